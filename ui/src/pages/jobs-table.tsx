import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { type Job, type JobState, jobs, type Run } from "../api/queries";
import { Empty, Skeleton } from "../parts/bits";
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
  show: (job: Job) => void;
}

export function JobsTable({ run, chosen, show }: Props) {
  const search = route.useSearch();
  const { task, state } = search;
  const navigate = useNavigate();
  const found = useInfiniteQuery(jobs(run.id, { task, state }));
  const items = useMemo(() => found.data?.pages.flatMap((page) => page.items) ?? [], [found.data]);
  const set = (change: { task?: string; state?: JobState }) =>
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
      </form>
      {items.length > 60 && <Heat jobs={items} show={show} />}
      {found.isError ? (
        <Problem error={found.error} again={() => set({ task: undefined, state: undefined })} />
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

/** Many jobs at once, one square each. */
function Heat({ jobs: all, show }: { jobs: Job[]; show: (job: Job) => void }) {
  return (
    <div className="card card-body" style={{ marginBottom: 12, maxHeight: 150, overflow: "auto" }}>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the table below has the same for keys */}
      <div
        className="heat"
        role="img"
        aria-label={`${all.length} jobs, one square each; the table has the same`}
        onClick={(event) => {
          const job = all[Number((event.target as HTMLElement).dataset.place)];
          if (job) show(job);
        }}
      >
        {all.slice(0, 5000).map((job, place) => (
          <span
            key={job.number}
            data-place={place}
            className={`fill-${look(job.state).tone}`}
            style={{ width: 10, height: 10, borderRadius: 2, cursor: "pointer" }}
            title={`${job.number} ${job.task}${typeof job.index === "number" ? ` [${job.index}]` : ""}: ${look(job.state).word}`}
          />
        ))}
      </div>
    </div>
  );
}
