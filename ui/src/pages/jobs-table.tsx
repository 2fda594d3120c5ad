/** The jobs of a run: all of them as a table with pages, and those of large tasks as a map. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { type Job, type JobCounts, type JobState, jobs, type Run, type TaskCounts, tasks } from "../api/queries";
import { worstOf } from "../graph/looks";
import { Empty, Progress, Skeleton } from "../parts/bits";
import { count } from "../parts/format";
import { Problem } from "../parts/problem";
import { Rows } from "../parts/rows";
import { look, State } from "../parts/state";
import { Took } from "../parts/time";

const STATES: JobState[] = [
  "waiting",
  "ready",
  "running",
  "backoff",
  "held",
  "success",
  "failed",
  "skipped",
  "stopped",
];
const COLUMNS = "60px minmax(120px, 1fr) 120px minmax(140px, 1.6fr) 80px 110px 80px";
const route = getRouteApi("/shell/runs/$run");

interface Props {
  run: Run;
  chosen: number | undefined;
  show: (job: Pick<Job, "number">) => void;
}

export function JobsTable({ run, chosen, show }: Props) {
  const search = route.useSearch();
  const { task, state, from } = search;
  const navigate = useNavigate();
  const found = useInfiniteQuery(jobs(run.id, { task, state, from }));
  const items = useMemo(() => found.data?.pages.flatMap((page) => page.items) ?? [], [found.data]);
  const set = (change: { task?: string; state?: JobState; from?: number }) =>
    void navigate({
      to: "/runs/$run",
      params: { run: run.id },
      search: { ...search, ...change },
      replace: true,
    });
  return (
    <>
      <form className="filters" onSubmit={(event) => event.preventDefault()} aria-label="Filters">
        <select
          className="select"
          aria-label="State of jobs"
          value={state ?? ""}
          onChange={(event) => set({ state: (event.target.value || undefined) as JobState | undefined })}
        >
          <option value="">Any state</option>
          {STATES.map((each) => (
            <option key={each} value={each}>
              {look(each).word}
            </option>
          ))}
        </select>
        <input
          className="input"
          data-filter
          aria-label="Task"
          placeholder="Task"
          defaultValue={task ?? ""}
          key={task ?? ""}
          onKeyDown={(event) => event.key === "Enter" && set({ task: event.currentTarget.value.trim() || undefined })}
        />
        <input
          className="input"
          type="number"
          min={0}
          aria-label="From job"
          placeholder="From job"
          style={{ width: 110 }}
          defaultValue={from ?? ""}
          key={`from ${from ?? ""}`}
          onKeyDown={(event) =>
            event.key === "Enter" &&
            set({ from: event.currentTarget.value ? Number(event.currentTarget.value) : undefined })
          }
        />
      </form>
      <Heat run={run} task={task} go={(job, alone) => (alone ? show({ number: job }) : set({ from: job, task }))} />
      {found.isError ? (
        <Problem error={found.error} again={() => set({ task: undefined, state: undefined, from: undefined })} />
      ) : found.isPending ? (
        <div className="card">
          <Skeleton />
        </div>
      ) : (
        <div style={{ display: "flex", height: Math.min(560, 34 + Math.max(3, items.length) * 36) }}>
          <Rows
            items={items}
            keyOf={(job) => job.number}
            columns={COLUMNS}
            heads={["Job", "Task", "State", "Reason", "Attempts", "Worker", "Took"]}
            label="Jobs"
            row={(job, { className, style }) => {
              const newest = job.attempts.at(-1);
              return (
                <button
                  type="button"
                  className={job.number === chosen ? `${className} current` : className}
                  style={{
                    ...style,
                    background: job.number === chosen ? undefined : "none",
                    border: 0,
                    borderBottom: "1px solid var(--line)",
                    textAlign: "left",
                    cursor: "pointer",
                  }}
                  onClick={() => show(job)}
                >
                  <span className="num muted">{job.number}</span>
                  <span className="ellipsis">
                    {job.task}
                    {typeof job.index === "number" && <span className="muted"> [{job.index}]</span>}
                  </span>
                  <State of={job.state} />
                  <span className="ellipsis soft" title={job.reason}>
                    {job.reason}
                  </span>
                  <span className="num">{job.attempts.length}</span>
                  <span className="ellipsis soft">{newest?.worker ?? "–"}</span>
                  <Took from={newest?.started_at} to={newest?.finished_at} />
                </button>
              );
            }}
            open={show}
            more={found.hasNextPage && !found.isFetchingNextPage ? () => void found.fetchNextPage() : undefined}
            empty={<Empty title="No job fits" />}
          />
        </div>
      )}
    </>
  );
}

/** Tasks of so many jobs have a map of them. */
const SEVERAL = 60;
/** So many squares of each task, and so many tasks. */
const SQUARES = 600;
const MAPS = 6;

/** The jobs of large tasks at once: a square for each job, or for as many as must share one. */
function Heat({ run, task, go }: { run: Run; task: string | undefined; go: (job: number, alone: boolean) => void }) {
  const isSeveral = (run.job_counts.total ?? 0) > SEVERAL;
  const found = useQuery({ ...tasks(run, { task, parts: SQUARES }), enabled: isSeveral }).data ?? [];
  const large = found.filter(({ job_counts, parts }) => (job_counts.total ?? 0) > SEVERAL && parts?.length);
  if (!isSeveral || large.length === 0) return null;
  return (
    <div className="card card-body stack" style={{ marginBottom: 12 }}>
      {large.slice(0, MAPS).map((each) => (
        <HeatMap key={each.task} of={each} go={go} />
      ))}
    </div>
  );
}

function HeatMap({ of, go }: { of: TaskCounts; go: (job: number, alone: boolean) => void }) {
  const { task, first_job: first, part_size: size = 1, parts = [], job_counts: counts } = of;
  return (
    <div>
      <div className="row between small" style={{ marginBottom: 6 }}>
        <span>
          <b>{task}</b> <Progress counts={counts} />
        </span>
        <span className="muted">{size === 1 ? "a square for each job" : `a square for ${count(size)} jobs each`}</span>
      </div>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the table below has the same for keys */}
      <div
        className="heat"
        role="img"
        aria-label={`${count(counts.total ?? 0)} jobs of ${task} as squares; the table has the same`}
        onClick={(event) => {
          const place = (event.target as HTMLElement).dataset.place;
          if (place !== undefined) go(first + Number(place) * size, size === 1);
        }}
      >
        {parts.map((part, place) => (
          <span
            key={place}
            data-place={place}
            data-state={worstOf(part)}
            className={`fill-${toneOf(part)}`}
            title={inWords(part, place * size)}
          />
        ))}
      </div>
    </div>
  );
}

/** What only waits for its turn is quiet here, so that what runs can be seen. */
function toneOf(part: JobCounts): string {
  const state = worstOf(part);
  return state === "ready" ? "idle" : look(state).tone;
}

/** `[0] to [1,666]: 1,600 success, 66 ready`. */
function inWords(part: JobCounts, from: number): string {
  const states = STATES.filter((state) => (part[state] ?? 0) > 0);
  const last = from + (part.total ?? 1) - 1;
  const words = states.map((state) => `${count(part[state] ?? 0)} ${look(state).word.toLowerCase()}`);
  return `[${count(from)}]${last > from ? ` to [${count(last)}]` : ""}: ${words.join(", ")}`;
}
