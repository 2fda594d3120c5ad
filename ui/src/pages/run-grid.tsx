/** The last runs of a workflow beside each other, task by task. */
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, client } from "../api/client";
import { type Job, type Run, someRuns } from "../api/queries";
import { looksOf } from "../graph/looks";
import { Empty, Skeleton } from "../parts/bits";
import { moment } from "../parts/format";
import { Problem } from "../parts/problem";
import { look } from "../parts/state";
import { RunList } from "./run-row";

const RUNS = 25;

/** The jobs of one run, a page of them; they change only while it is open. */
const firstJobs = (run: Run) => ({
  queryKey: ["grid-jobs", run.id, run.state, run.finished_at ?? null],
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Job[]> =>
    (
      await answer(
        client.GET("/api/v1/runs/{run}/jobs", { params: { path: { run: run.id }, query: { limit: 1000 } }, signal }),
      )
    ).items,
  staleTime: run.finished_at ? Number.POSITIVE_INFINITY : 2000,
  refetchInterval: run.finished_at ? (false as const) : 3000,
});

export function RunGrid({ workflow }: { workflow: string }) {
  const found = useQuery(someRuns({ workflow }, RUNS));
  const runs = found.data?.toReversed() ?? [];
  const columns = useQueries({ queries: runs.map(firstJobs) }).map(({ data }) => (data ? looksOf(data) : undefined));
  if (found.isError) return <Problem error={found.error} />;
  if (found.isPending) return <Skeleton />;
  if (runs.length === 0)
    return (
      <div className="card">
        <Empty title="It has not run yet">
          <div className="row">
            <Link to="/workflows/$name/start" params={{ name: workflow }} className="btn primary">
              Start it
            </Link>
          </div>
        </Empty>
      </div>
    );
  const tasks = [...new Set(columns.toReversed().flatMap((column) => [...(column?.keys() ?? [])]))];
  return (
    <div className="stack">
      <section className="card" aria-label="Runs by tasks">
        <div className="card-head">
          <h2>Last {runs.length} runs by task</h2>
          <span className="muted small">oldest at the left</span>
        </div>
        <div className="rungrid card-body">
          <table>
            <tbody>
              <tr>
                <th scope="row">Run</th>
                {runs.map((run) => (
                  <td key={run.id}>
                    <Cell
                      state={run.state}
                      label={`Run ${run.id}, ${moment(Date.parse(run.logical_time))}`}
                      run={run.id}
                    />
                  </td>
                ))}
              </tr>
              {tasks.map((task) => (
                <tr key={task}>
                  <th scope="row">{task}</th>
                  {runs.map((run, place) => {
                    const state = columns[place]?.get(task)?.state;
                    return (
                      <td key={run.id}>
                        {state ? <Cell state={state} label={`${task} in ${run.id}`} run={run.id} /> : <span />}
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
      <section className="card" aria-label="Last runs">
        <RunList runs={found.data} ofOne />
      </section>
    </div>
  );
}

function Cell({ state, label, run }: { state: string; label: string; run: string }) {
  const { tone, Icon, word } = look(state);
  return (
    <Link
      to="/runs/$run"
      params={{ run }}
      aria-label={`${label}: ${word}`}
      title={`${label}: ${word}`}
      className={`chip tone-${tone === "skip" ? "idle" : tone}`}
    >
      <Icon size={12} />
    </Link>
  );
}
