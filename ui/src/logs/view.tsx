/** The lines on screen. */
import { type ReactNode, type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { LogLine } from "../api/queries";
import { clockTime } from "../parts/format";
import { segments } from "./ansi";
import { LINE, lineAt, type Scale, scaleOf, topOf } from "./scroll";
import type { LogStore } from "./store";

const AROUND = 30;

export interface LogViewProps {
  store: LogStore;
  last: number;
  version: number;
  /** The line to which one was led. */
  marked: number | undefined;
  mark: (line: number) => void;
  search: string;
  times: boolean;
  follow: boolean;
  setFollow: (on: boolean) => void;
  box: RefObject<HTMLDivElement | null>;
}

export function LogView(props: LogViewProps) {
  const { store, last, version, marked, mark, search, times, follow, setFollow, box } = props;
  const [seen, setSeen] = useState({ top: 0, height: 600 });
  const scale = scaleOf(last, seen.height);
  const scaleNow = useRef<Scale>(scale);
  scaleNow.current = scale;
  const ours = useRef(false);

  const scrollTo = useCallback(
    (line: number) => {
      if (!box.current) return;
      ours.current = true;
      box.current.scrollTop = topOf(scaleNow.current, line);
    },
    [box],
  );

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => setSeen({ top: element.scrollTop, height: element.clientHeight });
    const scrolled = () => {
      look();
      // Who scrolls up wants to read; who comes back to the end wants what follows.
      if (!ours.current) setFollow(element.scrollTop + element.clientHeight >= element.scrollHeight - LINE);
      ours.current = false;
    };
    const watch = new ResizeObserver(look);
    watch.observe(element);
    element.addEventListener("scroll", scrolled, { passive: true });
    return () => {
      watch.disconnect();
      element.removeEventListener("scroll", scrolled);
    };
  }, [box, setFollow]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: each new line scrolls
  useLayoutEffect(() => {
    if (follow) scrollTo(last);
  }, [follow, last, seen.height, scrollTo]);

  const known = last > 0;
  useEffect(() => {
    if (marked !== undefined && known) scrollTo(marked - 6);
  }, [marked, known, scrollTo]);

  const above = lineAt(scale, seen.top);
  const first = Math.max(1, Math.floor(above) + 1 - AROUND);
  const end = Math.min(last, Math.ceil(above + seen.height / LINE) + AROUND);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was forgotten is read again
  useEffect(() => store.want(first, end), [store, first, end, version]);

  const lines: ReactNode[] = [];
  for (let number = first; number <= end; number += 1) {
    const top = seen.top + (number - 1 - above) * LINE;
    lines.push(
      <Line
        key={number}
        number={number}
        line={store.line(number)}
        top={top}
        on={number === marked}
        mark={mark}
        search={search}
        times={times}
      />,
    );
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys
    <div className="log" ref={box} tabIndex={0} role="log" aria-label="Log" aria-live="off">
      <div style={{ height: scale.height, position: "relative" }}>{lines}</div>
    </div>
  );
}

interface LineProps {
  number: number;
  line: LogLine | undefined;
  top: number;
  on: boolean;
  mark: (line: number) => void;
  search: string;
  times: boolean;
}

function Line({ number, line, top, on, mark, search, times }: LineProps) {
  const source = line?.stream === "stderr" ? " stderr" : line?.stream === "cut" ? " cut" : "";
  return (
    <div
      className={`log-line${source}${on ? " on" : ""}`}
      style={{ transform: `translateY(${top}px)` }}
      data-line={number}
    >
      <a
        className="no"
        href={`#L${number}`}
        aria-label={`Line ${number}`}
        onClick={(event) => {
          event.preventDefault();
          mark(number);
        }}
      >
        {number}
      </a>
      {times && <time>{line ? clockTime(Date.parse(line.time)) : ""}</time>}
      <span className="src" title={line?.stream === "stderr" ? "standard error" : undefined}>
        {line?.stream === "stderr" ? "!" : ""}
      </span>
      <span>{line ? <Text text={line.text} search={search} /> : <span className="muted">…</span>}</span>
    </div>
  );
}

function Text({ text, search }: { text: string; search: string }) {
  return segments(text).map((part, place) => (
    <span
      key={place}
      className={part.styles.map((style) => `ansi-${style}`).join(" ") || undefined}
      style={part.color || part.background ? { color: part.color, background: part.background } : undefined}
    >
      <Marked text={part.text} search={search} />
    </span>
  ));
}

function Marked({ text, search }: { text: string; search: string }) {
  if (!search) return text;
  const wanted = search.toLowerCase();
  const parts: ReactNode[] = [];
  let from = 0;
  for (let at = text.toLowerCase().indexOf(wanted); at >= 0; at = text.toLowerCase().indexOf(wanted, from)) {
    parts.push(text.slice(from, at), <mark key={at}>{text.slice(at, at + wanted.length)}</mark>);
    from = at + wanted.length;
  }
  parts.push(text.slice(from));
  return parts;
}
