/** One workflow: how it looks, how it went, what it was and what depends on it. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { deleteWorkflow, enableWorkflow } from "../api/actions";
import { dependencies, schedules, type Workflow, workflowGraph, workflow as workflowQuery } from "../api/queries";
import { Graph } from "../graph/graph";
import { Copy, Empty, Skeleton } from "../parts/bits";
import { Confirm, type Wish } from "../parts/confirm";
import { plural } from "../parts/format";
import { MoreIcon, PauseIcon } from "../parts/icons";
import { Menu } from "../parts/menu";
import { Problem } from "../parts/problem";
import { Table } from "../parts/table";
import { Tabs } from "../parts/tabs";
import { Ago } from "../parts/time";
import type { WorkflowTab } from "../routes";
import { Page } from "../shell/page";
import { WorkflowCalendar } from "./calendar";
import { RunGrid } from "./run-grid";
import { ScheduleTable } from "./schedule-table";

const Yaml = lazy(() => import("../editor/yaml-view"));
const Versions = lazy(() => import("./versions"));
const route = getRouteApi("/shell/workflows/$name");
const TABS: [WorkflowTab, string][] = [
  ["graph", "Graph"],
  ["runs", "Runs"],
  ["calendar", "Calendar"],
  ["yaml", "YAML"],
  ["versions", "Versions"],
  ["schedules", "Schedules"],
  ["dependencies", "Dependencies"],
];

export function WorkflowPage() {
  const { name } = route.useParams();
  const found = useQuery(workflowQuery(name));
  return (
    <Page crumbs={[{ label: "Workflows", to: "/workflows" }, { label: name }]}>
      {found.isError ? (
        <Problem error={found.error} again={() => void found.refetch()} />
      ) : found.data ? (
        <Loaded workflow={found.data} />
      ) : (
        <div className="card">
          <Skeleton rows={10} />
        </div>
      )}
    </Page>
  );
}

function Loaded({ workflow }: { workflow: Workflow }) {
  const { tab = "graph" } = route.useSearch();
  const { name } = workflow;
  return (
    <>
      <Head workflow={workflow} />
      <Tabs label="Views of the workflow" tabs={TABS} tab={tab} to="/workflows/$name" params={{ name }} />
      <Suspense fallback={<Skeleton />}>
        {tab === "graph" && <Picture workflow={workflow} />}
        {tab === "runs" && <RunGrid workflow={name} />}
        {tab === "calendar" && <WorkflowCalendar workflow={name} />}
        {tab === "yaml" && <Text text={workflow.text ?? ""} />}
        {tab === "versions" && <Versions name={name} />}
        {tab === "schedules" && <Schedules name={name} />}
        {tab === "dependencies" && <Dependencies name={name} />}
      </Suspense>
    </>
  );
}

function Head({ workflow }: { workflow: Workflow }) {
  const { name, enabled } = workflow;
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [wish, setWish] = useState<Wish | null>(null);
  const again = () => void queries.invalidateQueries();
  const enable: Wish = {
    title: enabled ? `Disable ${name}?` : `Enable ${name}?`,
    about: enabled
      ? "No new run begins: schedules, triggers and people are refused. Open runs go on."
      : "New runs may begin again, by schedules, triggers and people.",
    verb: enabled ? "Disable" : "Enable",
    act: () => enableWorkflow(name, !enabled),
    done: enabled ? `${name} is disabled.` : `${name} is enabled.`,
    afterwards: again,
  };
  const remove: Wish = {
    title: `Delete ${name}?`,
    about: "Its versions and schedules go. Runs that it had stay, with their definitions. It must have no open runs.",
    verb: "Delete",
    danger: true,
    act: () => deleteWorkflow(name),
    done: `${name} is deleted.`,
    afterwards: () => {
      again();
      void navigate({ to: "/workflows" });
    },
  };
  return (
    <div className="page-head">
      <div className="titles">
        <div className="row wrap-row">
          <h1>{name}</h1>
          {!enabled && (
            <span className="state chip tone-warn">
              <PauseIcon size={13} /> Disabled
            </span>
          )}
        </div>
        {workflow.description && <p className="soft">{workflow.description}</p>}
        <div className="facts">
          <span>
            <b>Version</b>
            {workflow.version}
          </span>
          <span>
            <b>Stored</b>
            <Ago at={workflow.updated_at} /> by {workflow.updated_by}
          </span>
          <span>{plural(workflow.task_count ?? 0, "task")}</span>
          {Object.entries(workflow.labels ?? {}).map(([key, value]) => (
            <span key={key} className="mono">
              {key}={value}
            </span>
          ))}
        </div>
      </div>
      <div className="row">
        <Link to="/workflows/$name/start" params={{ name }} className="btn primary" disabled={!enabled}>
          Start
        </Link>
        <Link to="/editor" search={{ workflow: name }} className="btn">
          Edit
        </Link>
        <Menu
          label="More"
          items={[
            { label: "Backfill…", act: () => void navigate({ to: "/backfills", search: { workflow: name } }) },
            { label: enabled ? "Disable…" : "Enable…", act: () => setWish(enable) },
            { label: "Delete…", act: () => setWish(remove), danger: true },
          ]}
        >
          <MoreIcon />
        </Menu>
      </div>
      <Confirm wish={wish} close={() => setWish(null)} />
    </div>
  );
}

function Picture({ workflow }: { workflow: Workflow }) {
  const graph = useQuery(workflowGraph(workflow.name, workflow.version));
  const [task, setTask] = useState<string | null>(null);
  if (graph.isError) return <Problem error={graph.error} />;
  if (!graph.data) return <div className="card graph" aria-busy="true" />;
  const shown = task === null ? undefined : definitionOf(workflow, task);
  return (
    <div className={shown ? "split" : "split one"}>
      <div className="card">
        <Graph graph={graph.data} selected={task} select={setTask} />
      </div>
      {shown !== undefined && (
        <aside className="card side" aria-label={`Task ${task}`}>
          <div className="card-head">
            <h2>{task}</h2>
            <button type="button" className="btn small quiet" onClick={() => setTask(null)}>
              Close
            </button>
          </div>
          <pre className="pre" style={{ margin: 14 }}>
            {JSON.stringify(shown, null, 2)}
          </pre>
        </aside>
      )}
    </div>
  );
}

function definitionOf(workflow: Workflow, task: string): unknown {
  const { tasks = {}, finally: last = {} } = workflow.definition as Record<string, Record<string, unknown>>;
  return tasks[task] ?? last[task];
}

function Text({ text }: { text: string }) {
  return (
    <section className="card" aria-label="YAML">
      <div className="card-head">
        <h2>Definition</h2>
        <Copy text={text} />
      </div>
      <Yaml text={text} />
    </section>
  );
}

function Schedules({ name }: { name: string }) {
  const found = useQuery(schedules(name));
  if (found.isError) return <Problem error={found.error} />;
  if (!found.data) return <Skeleton />;
  return (
    <section className="card scroll-x" aria-label="Schedules">
      {found.data.length ? (
        <ScheduleTable schedules={found.data} />
      ) : (
        <Empty title="It has no schedule">
          <p>Give it a `schedule`, such as "0 3 * * *", and it runs by itself.</p>
        </Empty>
      )}
    </section>
  );
}

const KINDS = { task: "task", sub_workflow: "sub-workflow", dependent: "waits for", trigger: "trigger" } as const;

function Dependencies({ name }: { name: string }) {
  const found = useQuery(dependencies(name));
  if (found.isError) return <Problem error={found.error} />;
  if (!found.data) return <Skeleton />;
  return (
    <div className="grid2">
      {(
        [
          ["What it needs", found.data.up, "It needs no other workflow."],
          ["What needs it", found.data.down, "No other workflow needs it."],
        ] as const
      ).map(([title, items, none]) => (
        <section key={title} className="card" aria-label={title}>
          <div className="card-head">
            <h2>{title}</h2>
          </div>
          {items.length === 0 ? (
            <p className="empty">{none}</p>
          ) : (
            <Table
              items={items}
              keyOf={(item) => `${item.workflow} ${item.kind}`}
              columns={[
                {
                  head: "Workflow",
                  kind: "name",
                  cell: ({ workflow }) => (
                    <Link to="/workflows/$name" params={{ name: workflow }}>
                      {workflow}
                    </Link>
                  ),
                },
                { head: "How", kind: "soft", cell: (item) => KINDS[item.kind] },
                {
                  head: "How far",
                  kind: "soft",
                  cell: ({ distance }) => (distance === 1 ? "directly" : `${distance} steps`),
                },
              ]}
            />
          )}
        </section>
      ))}
    </div>
  );
}
