/** What happened, in order. It is made from the run and its attempts, so it is the same after a reload. */
import { useMemo } from "react";
import type { Job, Run } from "../api/queries";
import { duration, moment } from "../parts/format";
import { State } from "../parts/state";
import { Table } from "../parts/table";

interface Happening {
  at: string;
  what: string;
  state: string;
  job?: Job;
}

const MOST = 1000;

export function happenings(run: Run, jobs: Job[]): Happening[] {
  const all: Happening[] = [{ at: run.created_at, what: `Created by ${run.created_by}`, state: "pending" }];
  if (run.started_at) all.push({ at: run.started_at, what: "The first job began", state: "running" });
  if (run.finished_at) all.push({ at: run.finished_at, what: run.reason || "The run ended", state: run.state });
  for (const job of jobs) {
    const name = typeof job.index === "number" ? `${job.task} [${job.index}]` : job.task;
    for (const attempt of job.attempts) {
      const on = attempt.worker ? ` on ${attempt.worker}` : "";
      if (attempt.started_at)
        all.push({
          at: attempt.started_at,
          what: `${name}: attempt ${attempt.number} began${on}`,
          state: "running",
          job,
        });
      if (attempt.finished_at)
        all.push({
          at: attempt.finished_at,
          what: `${name}: ${attempt.reason || `attempt ${attempt.number} ended`}`,
          state: attempt.state,
          job,
        });
    }
  }
  return all.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

export function Timeline({ run, jobs, show }: { run: Run; jobs: Job[]; show: (job: Job) => void }) {
  const all = useMemo(() => happenings(run, jobs), [run, jobs]);
  const start = Date.parse(run.created_at);
  return (
    <section className="card scroll-x" aria-label="Timeline">
      <Table
        items={all.slice(-MOST)}
        keyOf={(each) => `${each.at} ${each.what}`}
        columns={[
          { head: "After", kind: "time", cell: ({ at }) => duration(Date.parse(at) - start) },
          { head: "Time", kind: "time", cell: ({ at }) => moment(Date.parse(at)) },
          { head: "State", cell: ({ state }) => <State of={state} /> },
          { head: "What happened", kind: "wrap", cell: (each) => <What of={each} show={show} /> },
        ]}
      />
    </section>
  );
}

function What({ of: { what, job }, show }: { of: Happening; show: (job: Job) => void }) {
  if (!job) return what;
  return (
    <button type="button" className="btn quiet small words" onClick={() => show(job)}>
      {what}
    </button>
  );
}
