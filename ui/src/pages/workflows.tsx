import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type Run, schedules, someRuns, type WorkflowSummary, workflows } from "../api/queries";
import { Empty, Skeleton } from "../parts/bits";
import { duration } from "../parts/format";
import { PauseIcon } from "../parts/icons";
import { Problem } from "../parts/problem";
import { look } from "../parts/state";
import { Ago } from "../parts/time";
import { Page } from "../shell/page";

const LAST = 20;

export function Workflows() {
  const found = useQuery(workflows);
  const due = useQuery(schedules()).data;
  const [filter, setFilter] = useState("");
  const next = (name: string) =>
    due
      ?.filter((schedule) => schedule.workflow === name && schedule.next_at && !schedule.paused && schedule.enabled)
      .map((schedule) => schedule.next_at as string)
      .sort()[0];
  const wanted = filter.trim().toLowerCase();
  const shown = found.data?.filter(
    ({ name, description, labels }) =>
      !wanted ||
      [name, description ?? "", ...Object.entries(labels ?? {}).flat()].some((word) =>
        word.toLowerCase().includes(wanted),
      ),
  );
  return (
    <Page crumbs={[{ label: "Workflows" }]}>
      <div className="page-head">
        <h1>Workflows</h1>
        <Link to="/editor" className="btn primary">
          New workflow
        </Link>
      </div>
      <div className="filters">
        <input
          className="input"
          type="search"
          data-filter
          aria-label="Filter by name, words or label"
          placeholder="Filter by name, words or label"
          style={{ width: 280 }}
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      </div>
      <section className="card scroll-x" aria-label="Workflows">
        {found.isError ? (
          <Problem error={found.error} again={() => void found.refetch()} />
        ) : found.isPending ? (
          <Skeleton />
        ) : shown?.length ? (
          <table className="table">
            <thead>
              <tr>
                <th>Name</th>
                <th>Last {LAST} runs</th>
                <th className="right">Success</th>
                <th className="right">Usually takes</th>
                <th>Last run</th>
                <th>Next firing</th>
                <th className="right">Tasks</th>
                <th>
                  <span className="sr">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {shown.map((workflow) => (
                <Row key={workflow.name} workflow={workflow} next={next(workflow.name)} />
              ))}
            </tbody>
          </table>
        ) : wanted ? (
          <Empty title="No workflow fits" />
        ) : (
          <Empty title="No workflow is stored">
            <p>Write one here, or store files with `windlass apply`.</p>
            <div className="row">
              <Link to="/editor" className="btn primary">
                Write a workflow
              </Link>
            </div>
          </Empty>
        )}
      </section>
    </Page>
  );
}

function Row({ workflow, next }: { workflow: WorkflowSummary; next: string | undefined }) {
  const runs = useQuery(someRuns({ workflow: workflow.name }, LAST)).data;
  const over = runs?.filter((run) => run.state === "success" || run.state === "failed") ?? [];
  const good = over.filter((run) => run.state === "success").length;
  return (
    <tr>
      <td style={{ maxWidth: 340 }}>
        <Link to="/workflows/$name" params={{ name: workflow.name }} style={{ fontWeight: 550 }}>
          {workflow.name}
        </Link>
        {!workflow.enabled && (
          <span className="state chip tone-warn small" style={{ marginLeft: 8 }}>
            <PauseIcon size={12} /> Disabled
          </span>
        )}
        {workflow.description && <div className="soft small ellipsis">{workflow.description}</div>}
      </td>
      <td>
        <Dots runs={runs} />
      </td>
      <td className="right num">{over.length ? `${Math.round((good / over.length) * 100)} %` : "–"}</td>
      <td className="right num">{usual(runs) ?? "–"}</td>
      <td>
        <Ago at={runs?.[0]?.created_at} />
      </td>
      <td>
        <Ago at={next} />
      </td>
      <td className="right num">{workflow.task_count}</td>
      <td className="right">
        <Link
          to="/workflows/$name/start"
          params={{ name: workflow.name }}
          className="btn small"
          disabled={!workflow.enabled}
          aria-label={`Start ${workflow.name}`}
        >
          Start
        </Link>
      </td>
    </tr>
  );
}

/** The last runs, oldest first; taller ones took longer. */
function Dots({ runs }: { runs: Run[] | undefined }) {
  const took = (run: Run) =>
    run.started_at ? (run.finished_at ? Date.parse(run.finished_at) : Date.now()) - Date.parse(run.started_at) : 0;
  const longest = Math.max(1, ...(runs ?? []).map(took));
  return (
    <span className="dots">
      {runs?.toReversed().map((run) => (
        <Link
          key={run.id}
          to="/runs/$run"
          params={{ run: run.id }}
          className={`fill-${look(run.state).tone}`}
          style={{ height: `${35 + 65 * (took(run) / longest)}%` }}
          aria-label={`Run ${run.id}: ${look(run.state).word}, ${duration(took(run))}`}
          title={`${look(run.state).word} · ${duration(took(run))}`}
        />
      ))}
    </span>
  );
}

/** The middle one of how long successful runs took. */
export function usual(runs: Run[] | undefined): string | undefined {
  const took = (runs ?? [])
    .filter((run) => run.state === "success" && run.started_at && run.finished_at)
    .map((run) => Date.parse(run.finished_at ?? "") - Date.parse(run.started_at ?? ""))
    .sort((a, b) => a - b);
  const middle = took[Math.floor(took.length / 2)];
  return middle === undefined ? undefined : duration(middle);
}
