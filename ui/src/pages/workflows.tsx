/** Every workflow: how its last runs went, how long they took, and when it fires next. */
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type Run, schedules, someRuns, type WorkflowSummary, workflows } from "../api/queries";
import { Empty, Skeleton } from "../parts/bits";
import { Filter } from "../parts/filter";
import { count, duration } from "../parts/format";
import { PauseIcon } from "../parts/icons";
import { Problem } from "../parts/problem";
import { look } from "../parts/state";
import { type Column, Table } from "../parts/table";
import { Ago } from "../parts/time";
import { Page } from "../shell/page";
import { STEADY, successRate, tookOf, trend, usualOf } from "./run-figures";

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
  const last = useQueries({ queries: (shown ?? []).map(({ name }) => someRuns({ workflow: name }, LAST)) });
  const rows = (shown ?? []).map(
    (workflow, place): Row => ({ workflow, runs: last[place]?.data, next: next(workflow.name) }),
  );
  return (
    <Page crumbs={[{ label: "Workflows" }]}>
      <div className="page-head">
        <h1>Workflows</h1>
        <Link to="/editor" className="btn primary">
          New workflow
        </Link>
      </div>
      <Filter label="Filter by name, words or label" text={filter} set={setFilter} />
      <section className="card scroll-x" aria-label="Workflows">
        {found.isError ? (
          <Problem error={found.error} again={() => void found.refetch()} />
        ) : found.isPending ? (
          <Skeleton />
        ) : rows.length ? (
          <Table items={rows} keyOf={({ workflow }) => workflow.name} columns={COLUMNS} />
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

interface Row {
  workflow: WorkflowSummary;
  /** Newest first. */
  runs: Run[] | undefined;
  next: string | undefined;
}

const COLUMNS: Column<Row>[] = [
  { head: "Name", kind: "wrap", cell: ({ workflow }) => <Name workflow={workflow} /> },
  { head: `Last ${LAST} runs`, cell: ({ runs }) => <Dots runs={runs} /> },
  { head: "Success", kind: "num", cell: ({ runs }) => successRate(runs) ?? "–" },
  { head: "Usually takes", kind: "num", cell: ({ runs }) => <Usual runs={runs} /> },
  { head: "Last run", cell: ({ runs }) => <Ago at={runs?.[0]?.created_at} /> },
  { head: "Next firing", cell: ({ next }) => <Ago at={next} /> },
  { head: "Tasks", kind: "num", cell: ({ workflow }) => count(workflow.task_count ?? 0) },
  {
    head: "Actions",
    kind: "actions",
    cell: ({ workflow: { name, enabled } }) => (
      <Link
        to="/workflows/$name/start"
        params={{ name }}
        className="btn small"
        disabled={!enabled}
        aria-label={`Start ${name}`}
      >
        Start
      </Link>
    ),
  },
];

function Name({ workflow }: { workflow: WorkflowSummary }) {
  return (
    <div style={{ maxWidth: 340 }}>
      <Link to="/workflows/$name" params={{ name: workflow.name }} style={{ fontWeight: 550 }}>
        {workflow.name}
      </Link>
      {!workflow.enabled && (
        <span className="state chip tone-warn small" style={{ marginLeft: 8 }}>
          <PauseIcon size={12} /> Disabled
        </span>
      )}
      {workflow.description && <div className="soft small ellipsis">{workflow.description}</div>}
    </div>
  );
}

/** How long it usually takes, and whether that changes. */
function Usual({ runs }: { runs: Run[] | undefined }) {
  const usual = usualOf(runs);
  const change = trend(runs);
  if (usual === undefined) return "–";
  return (
    <>
      {duration(usual)}
      {change !== undefined && (
        <div className="small muted">
          {Math.abs(change) < STEADY
            ? "steady"
            : `${Math.round(Math.abs(change) * 100)} % ${change > 0 ? "longer" : "shorter"}`}
        </div>
      )}
    </>
  );
}

/** The last runs, oldest first; taller ones took longer. */
function Dots({ runs }: { runs: Run[] | undefined }) {
  const took = (run: Run) => tookOf(run, Date.now());
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
