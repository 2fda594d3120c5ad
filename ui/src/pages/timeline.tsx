/** What happened, in order. It is made from the run and its attempts, so it is the same after a reload. */
import { useMemo } from "react";
import type { Job, Run } from "../api/queries";
import { duration, moment } from "../parts/format";
import { State } from "../parts/state";

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
      <table className="table">
        <thead>
          <tr>
            <th>After</th>
            <th>Time</th>
            <th>State</th>
            <th>What happened</th>
          </tr>
        </thead>
        <tbody>
          {all.slice(-MOST).map((each, place) => (
            <tr key={`${each.at}${place}`}>
              <td className="num muted nowrap">{duration(Date.parse(each.at) - start)}</td>
              <td className="num nowrap soft">{moment(Date.parse(each.at))}</td>
              <td>
                <State of={each.state} />
              </td>
              <td className="wrap">
                {each.job ? (
                  <button
                    type="button"
                    className="btn quiet small"
                    style={{ padding: 0, height: "auto", whiteSpace: "normal", textAlign: "left" }}
                    onClick={() => each.job && show(each.job)}
                  >
                    {each.what}
                  </button>
                ) : (
                  each.what
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
