/** A run in a list: the same columns everywhere. */
import { Link } from "@tanstack/react-router";
import type { Run } from "../api/queries";
import { CountsBar, Progress } from "../parts/bits";
import { State } from "../parts/state";
import { Ago, Moment, Took } from "../parts/time";

export const RUN_COLUMNS = "112px minmax(140px, 1.4fr) 130px minmax(120px, 1fr) 110px 90px 90px";
export const RUN_HEADS = ["State", "Workflow", "Run", "Jobs", "", "Took", "Created"];

export function RunCells({ run }: { run: Run }) {
  return (
    <>
      <State of={run.state} title={run.reason} />
      <span className="ellipsis" style={{ fontWeight: 500 }}>
        {run.workflow}
      </span>
      <span className="mono muted">{run.id}</span>
      <CountsBar counts={run.job_counts} />
      <Progress counts={run.job_counts} />
      <Took from={run.started_at} to={run.finished_at} />
      <Ago at={run.created_at} />
    </>
  );
}

/** A short list of runs, without scrolling. */
export function RunList({ runs, ofOne = false }: { runs: Run[]; ofOne?: boolean }) {
  return (
    <ul>
      {runs.map((run) => (
        <li key={run.id}>
          <Link
            to="/runs/$run"
            params={{ run: run.id }}
            className="vrow"
            style={{ position: "relative", gridTemplateColumns: "104px minmax(0, 1fr) 84px 64px 74px" }}
          >
            <State of={run.state} title={run.reason} />
            {ofOne ? (
              <span className="ellipsis">
                <span className="mono">{run.id}</span> <span className="muted">about</span>{" "}
                <Moment at={run.logical_time} />
              </span>
            ) : (
              <span className="ellipsis" style={{ fontWeight: 500 }} title={run.id}>
                {run.workflow}
              </span>
            )}
            <CountsBar counts={run.job_counts} />
            <Took from={run.started_at} to={run.finished_at} />
            <Ago at={run.finished_at ?? run.created_at} />
          </Link>
        </li>
      ))}
    </ul>
  );
}
