/** The last runs of a workflow beside each other, task by task. */
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { someRuns, tasks } from "../api/queries";
import { looksOfCounts } from "../graph/looks";
import { Empty, Skeleton } from "../parts/bits";
import { moment } from "../parts/format";
import { Problem } from "../parts/problem";
import { look } from "../parts/state";
import { RunList } from "./run-row";

const RUNS = 25;

export function RunGrid({ workflow }: { workflow: string }) {
  const found = useQuery(someRuns({ workflow }, RUNS));
  const runs = found.data?.toReversed() ?? [];
  const columns = useQueries({ queries: runs.map((run) => tasks(run)) }).map(({ data }) => data && looksOfCounts(data));
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
  const names = [...new Set(columns.toReversed().flatMap((column) => [...(column?.keys() ?? [])]))];
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
              {names.map((task) => (
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
