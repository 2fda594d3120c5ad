import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { job as jobQuery, run as runQuery } from "../api/queries";
import { plain } from "../logs/ansi";
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
                search={{ attempt: each.number }}
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

function Opened({ store, run, job, attempt, name }: Of & { store: LogStore }) {
  const state = useSyncExternalStore(store.subscribe, store.current);
  const { line: marked } = route.useSearch();
  const navigate = useNavigate();
  const [follow, setFollow] = useState(marked === undefined);
  const [times, setTimes] = useState(true);
  const box = useRef<HTMLDivElement>(null);
  const mark = useCallback(
    (line: number) => {
      setFollow(false);
      void navigate({
        to: "/runs/$run/jobs/$job/log",
        params: { run, job: String(job) },
        search: { attempt, line },
        replace: true,
      });
    },
    [navigate, run, job, attempt],
  );
  const search = useSearch(store, state.last, marked, mark);
  const download = useDownload(store, `${name}-${run}-${attempt}.log`, state.last);
  if (state.error) return <Problem error={state.error} />;
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
            if (line >= 1) mark(Math.min(line, Math.max(1, state.last)));
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
        <span style={{ flex: 1 }} />
        <span className="row soft num">{plural(state.last, "line")}</span>
        <button type="button" className="btn" aria-pressed={times} onClick={() => setTimes(!times)}>
          Times
        </button>
        <button type="button" className="btn" aria-pressed={follow} onClick={() => setFollow(!follow)}>
          {state.complete ? "End" : "Follow"}
        </button>
        <button type="button" className="btn" disabled={download.at !== null} onClick={download.start}>
          {download.at === null ? "Download" : `${count(download.at)}…`}
        </button>
      </div>
      {state.notice && (
        <div className="notice warn" style={{ marginBottom: 10 }}>
          {state.notice}
        </div>
      )}
      {state.last === 0 && state.version > 0 ? (
        <div className="card">
          <Empty title={state.complete ? "It printed nothing" : "Nothing printed yet"} />
        </div>
      ) : (
        <LogView
          store={store}
          last={state.last}
          version={state.version}
          marked={marked}
          mark={mark}
          search={search.text}
          times={times}
          follow={follow}
          setFollow={setFollow}
          box={box}
        />
      )}
    </>
  );
}

function useSearch(store: LogStore, last: number, marked: number | undefined, mark: (line: number) => void) {
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
      const found = await find({ store, text, from, step, last, tell: setAt, signal: abort.signal });
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
