import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { job as jobQuery, run as runQuery } from "../api/queries";
import { useLive } from "../live/context";
import { plain } from "../logs/ansi";
import { FilteredLog } from "../logs/filtered";
import type { LogLevel } from "../logs/lines";
import { find } from "../logs/search";
import { LogStore } from "../logs/store";
import { LogView } from "../logs/view";
import { Empty } from "../parts/bits";
import { count, plural } from "../parts/format";
import { Problem } from "../parts/problem";
import { State } from "../parts/state";
import { useToasts } from "../parts/toasts";
import { Page } from "../shell/page";

const route = getRouteApi("/shell/runs/$run/jobs/$job/log");

export function LogRoute() {
  const { run, job } = route.useParams();
  const { attempt } = route.useSearch();
  const found = useQuery(jobQuery(run, Number(job)));
  const about = useQuery(runQuery(run)).data;
  const attempts = found.data?.attempts ?? [];
  const shown = attempt ?? attempts.at(-1)?.number;
  const name = found.data?.task ?? job;
  return (
    <Page
      fill
      crumbs={[
        { label: "Runs", to: "/runs" },
        { label: about ? `${about.workflow} ${run}` : run, to: `/runs/${run}` },
        { label: `Log of ${name}` },
      ]}
    >
      <div className="page-head" style={{ marginBottom: 10 }}>
        <div className="row wrap-row">
          <h1>{name}</h1>
          {found.data && typeof found.data.index === "number" && <span className="muted">[{found.data.index}]</span>}
          {found.data && <State of={found.data.state} chip />}
        </div>
        {attempts.length > 1 && (
          <nav className="row" aria-label="Attempts">
            {attempts.map((each) => (
              <Link
                key={each.number}
                to="/runs/$run/jobs/$job/log"
                params={{ run, job }}
                search={(now) => ({ ...now, attempt: each.number, line: undefined })}
                className="btn small"
                aria-current={each.number === shown ? "page" : undefined}
                style={each.number === shown ? { borderColor: "var(--accent)" } : undefined}
              >
                Attempt {each.number} <State of={each.state} />
              </Link>
            ))}
          </nav>
        )}
      </div>
      {found.isError ? (
        <Problem error={found.error} again={() => void found.refetch()} />
      ) : shown === undefined ? (
        found.data && (
          <Empty title="It has not begun, so it has printed nothing">
            <p>{found.data.reason}</p>
          </Empty>
        )
      ) : (
        <Log key={`${run} ${job} ${shown}`} run={run} job={Number(job)} attempt={shown} name={name} />
      )}
    </Page>
  );
}

interface Of {
  run: string;
  job: number;
  attempt: number;
  name: string;
}

function Log({ run, job, attempt, name }: Of) {
  const [store, setStore] = useState<LogStore | null>(null);
  useEffect(() => {
    const opened = new LogStore(run, job, attempt);
    setStore(opened);
    void opened.open();
    return () => opened.close();
  }, [run, job, attempt]);
  return store && <Opened store={store} run={run} job={job} attempt={attempt} name={name} />;
}

const WRAP = "windlass.log.wrap";
const LEVELS: [LogLevel | "", string][] = [
  ["", "All lines"],
  ["info", "Info and worse"],
  ["warn", "Warnings and worse"],
  ["error", "Errors"],
];

/** The lines that are shown: all, or those of a level. */
function useLines(store: LogStore, level: LogLevel | undefined) {
  const filtered = useMemo(() => (level ? new FilteredLog(level, (query) => store.read(query)) : null), [store, level]);
  useEffect(() => {
    void filtered?.open();
    return () => filtered?.close();
  }, [filtered]);
  return filtered ?? store;
}

function Opened({ store, run, job, attempt, name }: Of & { store: LogStore }) {
  const { line: marked, level } = route.useSearch();
  const whole = useSyncExternalStore(store.subscribe, store.current);
  const lines = useLines(store, level);
  const state = useSyncExternalStore(lines.subscribe, lines.current);
  const paused = useLive().state === "paused";
  useEffect(() => lines.hold(paused), [lines, paused]);
  const navigate = useNavigate();
  const [follow, setFollow] = useState(marked === undefined);
  const [times, setTimes] = useState(true);
  const [wrap, setWrap] = useState(() => localStorage.getItem(WRAP) === "on");
  const go = useCallback(
    (change: { line?: number; level?: LogLevel }) =>
      void navigate({
        to: "/runs/$run/jobs/$job/log",
        params: { run, job: String(job) },
        search: (now: { line?: number; level?: LogLevel }) => ({ ...now, attempt, ...change }),
        replace: true,
      }),
    [navigate, run, job, attempt],
  );
  const mark = useCallback(
    (line: number) => {
      setFollow(false);
      go({ line });
    },
    [go],
  );
  const search = useSearch(store, level, whole.last, marked, mark);
  const download = useDownload(store, `${name}-${run}-${attempt}.log`, whole.last);
  if (whole.error) return <Problem error={whole.error} />;
  return (
    <>
      <div className="filters">
        <form
          className="row"
          role="search"
          onSubmit={(event) => {
            event.preventDefault();
            search.next(1);
          }}
        >
          <input
            className="input"
            data-filter
            type="search"
            aria-label="Search in the log"
            placeholder="Search"
            value={search.text}
            onChange={(event) => search.setText(event.target.value)}
          />
          <button type="submit" className="btn" disabled={!search.text || search.at !== null}>
            Next
          </button>
          <button
            type="button"
            className="btn"
            disabled={!search.text || search.at !== null}
            onClick={() => search.next(-1)}
          >
            Previous
          </button>
          {search.at !== null && (
            <>
              <span className="soft num">at line {count(search.at)}…</span>
              <button type="button" className="btn quiet" onClick={search.cancel}>
                Cancel
              </button>
            </>
          )}
        </form>
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault();
            const line = Number(new FormData(event.currentTarget).get("line"));
            if (line >= 1) mark(Math.min(line, Math.max(1, whole.last)));
          }}
        >
          <input
            className="input"
            name="line"
            type="number"
            min={1}
            aria-label="Go to line"
            placeholder="Line"
            style={{ width: 90 }}
          />
        </form>
        <select
          className="select"
          aria-label="Level of lines"
          value={level ?? ""}
          onChange={(event) => go({ level: (event.target.value || undefined) as LogLevel | undefined })}
        >
          {LEVELS.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        <span style={{ flex: 1 }} />
        <span className="row soft num">
          {level && `${count(state.last)} of `}
          {plural(whole.last, "line")}
          {level && !state.complete && state.looked !== undefined && state.looked < whole.last && ", looking…"}
        </span>
        <button
          type="button"
          className="btn"
          aria-pressed={wrap}
          onClick={() => {
            localStorage.setItem(WRAP, wrap ? "off" : "on");
            setWrap(!wrap);
          }}
        >
          Wrap
        </button>
        <button type="button" className="btn" aria-pressed={times} onClick={() => setTimes(!times)}>
          Times
        </button>
        <button type="button" className="btn" aria-pressed={follow} onClick={() => setFollow(!follow)}>
          {whole.complete ? "End" : "Follow"}
        </button>
        <button type="button" className="btn" disabled={download.at !== null} onClick={download.start}>
          {download.at === null ? "Download" : `${count(download.at)}…`}
        </button>
      </div>
      {state.error !== null && <Problem error={state.error} />}
      {state.cut && (
        <div className="notice warn" style={{ marginBottom: 10 }}>
          Only the first {count(state.last)} lines of this level are shown. Search goes through all.
        </div>
      )}
      {state.notice && (
        <div className="notice warn" style={{ marginBottom: 10 }}>
          {state.notice}
        </div>
      )}
      {state.last === 0 && state.version > 0 ? (
        <div className="card">
          <Empty
            title={
              level && whole.last > 0
                ? state.complete
                  ? "No line is of this level"
                  : "No line of this level yet"
                : state.complete
                  ? "It printed nothing"
                  : "Nothing printed yet"
            }
          />
        </div>
      ) : (
        <LogView
          key={level ?? ""}
          lines={lines}
          last={state.last}
          version={state.version}
          marked={marked}
          mark={mark}
          search={search.text}
          times={times}
          wrap={wrap}
          follow={follow}
          setFollow={setFollow}
        />
      )}
    </>
  );
}

function useSearch(
  store: LogStore,
  level: LogLevel | undefined,
  last: number,
  marked: number | undefined,
  mark: (line: number) => void,
) {
  const toasts = useToasts();
  const [text, setText] = useState("");
  const [at, setAt] = useState<number | null>(null);
  const hunt = useRef<AbortController | null>(null);
  const next = async (step: 1 | -1) => {
    hunt.current?.abort();
    const abort = new AbortController();
    hunt.current = abort;
    const from = marked === undefined ? (step > 0 ? 1 : last) : marked + step;
    setAt(from);
    try {
      const read = store.read.bind(store);
      const found = await find({ read, text, level, from, step, last, tell: setAt, signal: abort.signal });
      if (found !== null) mark(found);
      else if (!abort.signal.aborted) toasts.done(`No line has “${text}”.`);
    } catch (error) {
      if (!abort.signal.aborted) toasts.failed(error);
    }
    setAt(null);
  };
  return { text, setText, at, next: (step: 1 | -1) => void next(step), cancel: () => hunt.current?.abort() };
}

function useDownload(store: LogStore, file: string, last: number) {
  const toasts = useToasts();
  const [at, setAt] = useState<number | null>(null);
  const start = async () => {
    setAt(0);
    try {
      const parts: string[] = [];
      let from = 1;
      while (from <= last) {
        const page = await store.read({ from_line: from, limit: 1000 });
        parts.push(page.items.map((line) => `${plain(line.text)}\n`).join(""));
        if (page.next_line <= from) break;
        from = page.next_line;
        setAt(from - 1);
      }
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob(parts, { type: "text/plain" }));
      link.download = file;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    } catch (error) {
      toasts.failed(error);
    }
    setAt(null);
  };
  return { at, start: () => void start() };
}
