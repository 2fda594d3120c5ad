/** The lines on screen. */
import { type ReactNode, type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { LogLine } from "../api/queries";
import { clockTime } from "../parts/format";
import { segments } from "./ansi";
import type { Lines } from "./lines";
import { anchorOf, LINE, lineAt, scaleOf, topOf, topOfAnchor } from "./scroll";

const AROUND = 30;
/** So many wrapped lines are simply all there; more are put around the place to which one has scrolled. */
const ALL_THERE = 500;

export interface LogViewProps {
  lines: Lines;
  /** How many there are. */
  last: number;
  version: number;
  /** The line to which one was led. */
  marked: number | undefined;
  mark: (line: number) => void;
  search: string;
  times: boolean;
  wrap: boolean;
  follow: boolean;
  setFollow: (on: boolean) => void;
}

export function LogView(props: LogViewProps) {
  const { lines, last, version, marked, mark, search, times, wrap, follow, setFollow } = props;
  const box = useRef<HTMLDivElement>(null);
  const { seen, scrollTo } = useScrolled(box, follow, setFollow);
  const scale = scaleOf(last, seen.height);
  const layout = !wrap ? "rows" : last <= ALL_THERE ? "flow" : "anchored";

  const show = useCallback(
    (place: number) => {
      const now = scaleOf(last, box.current?.clientHeight ?? 0);
      if (layout === "rows") scrollTo(topOf(now, place - 7));
      else if (layout === "anchored") scrollTo(topOfAnchor(last, now, place));
      else box.current?.querySelector(`[data-place="${place}"]`)?.scrollIntoView({ block: "center" });
    },
    [scrollTo, last, layout],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: each new line scrolls
  useLayoutEffect(() => {
    if (follow) scrollTo(Number.MAX_SAFE_INTEGER);
  }, [follow, last, version, seen.height, wrap, scrollTo]);

  const known = last > 0;
  const showNow = useRef(show);
  showNow.current = show;
  // biome-ignore lint/correctness/useExhaustiveDependencies: to another layout, too
  useEffect(() => {
    if (marked !== undefined && known) showNow.current(lines.placeOf(marked));
  }, [marked, known, lines, layout]);

  const above = lineAt(scale, seen.top);
  const anchor = anchorOf(last, scale, seen.top);
  const fits = Math.ceil(seen.height / LINE);
  const [first, end] =
    layout === "flow"
      ? [1, last]
      : layout === "rows"
        ? [Math.max(1, Math.floor(above) + 1 - AROUND), Math.min(last, Math.ceil(above) + fits + AROUND)]
        : [Math.max(1, anchor.line - fits), Math.min(last, anchor.line + fits)];
  // Only where it comes to rest: not what it passes on its way.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was forgotten is read again
  useEffect(() => {
    const soon = setTimeout(() => lines.want(first, end));
    return () => clearTimeout(soon);
  }, [lines, first, end, version]);

  const shown = (from: number, to: number, top?: (place: number) => number): ReactNode[] => {
    const all: ReactNode[] = [];
    for (let place = Math.max(1, from); place <= to; place += 1) {
      const line = lines.line(place);
      const on = marked !== undefined && marked === (line?.number ?? place);
      all.push(<Line key={place} place={place} line={line} top={top?.(place)} on={on} {...{ mark, search, times }} />);
    }
    return all;
  };
  return (
    <div
      className={wrap ? "log wrapped" : "log"}
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys
      tabIndex={0}
      role="log"
      aria-label="Log"
      aria-live="off"
    >
      {layout === "flow" && <div>{shown(first, end)}</div>}
      {layout === "rows" && (
        <div style={{ height: scale.height, position: "relative" }}>
          {shown(first, end, (place) => seen.top + (place - 1 - above) * LINE)}
        </div>
      )}
      {layout === "anchored" && (
        <div style={{ height: scale.height, position: "relative", overflow: "hidden" }}>
          <div
            className="anchor"
            style={{
              top: seen.top + anchor.down * seen.height,
              transform: `translateY(${-anchor.above * 100}%)`,
            }}
          >
            <div className="before">{shown(first, anchor.line - 1)}</div>
            {shown(anchor.line, anchor.line)}
            <div className="after">{shown(anchor.line + 1, end)}</div>
          </div>
        </div>
      )}
    </div>
  );
}

/** Where a box is scrolled to. Who scrolls up wants to read; who comes back to the end wants what follows. */
function useScrolled(box: RefObject<HTMLDivElement | null>, follow: boolean, setFollow: (on: boolean) => void) {
  const [seen, setSeen] = useState({ top: 0, height: 600 });
  const ours = useRef(false);
  const following = useRef(follow);
  following.current = follow;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => setSeen({ top: element.scrollTop, height: element.clientHeight });
    const scrolled = () => {
      look();
      const atEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - LINE;
      if (!ours.current && following.current !== atEnd) setFollow(atEnd);
      ours.current = false;
    };
    look();
    const watch = new ResizeObserver(look);
    watch.observe(element);
    element.addEventListener("scroll", scrolled, { passive: true });
    return () => {
      watch.disconnect();
      element.removeEventListener("scroll", scrolled);
    };
  }, [box, setFollow]);
  const scrollTo = useCallback(
    (top: number) => {
      const element = box.current;
      if (!element) return;
      const before = element.scrollTop;
      element.scrollTop = Math.min(top, element.scrollHeight - element.clientHeight);
      if (element.scrollTop === before) return;
      ours.current = true;
      // What is there now is drawn at once, not after the browser has told that it scrolled.
      setSeen({ top: element.scrollTop, height: element.clientHeight });
    },
    [box],
  );
  return { seen, scrollTo };
}

interface LineProps {
  place: number;
  line: LogLine | undefined;
  /** Where it is put; without it, after the one before. */
  top: number | undefined;
  on: boolean;
  mark: (line: number) => void;
  search: string;
  times: boolean;
}

function Line({ place, line, top, on, mark, search, times }: LineProps) {
  const source = line?.stream === "stderr" ? " stderr" : line?.stream === "cut" ? " cut" : "";
  const number = line?.number ?? place;
  return (
    <div
      className={`log-line${source}${on ? " on" : ""}`}
      style={top === undefined ? undefined : { transform: `translateY(${top}px)` }}
      data-line={number}
      data-place={place}
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
      <span className="text">
        {line ? <Text text={line.text} search={search} /> : <span className="muted">…</span>}
      </span>
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
