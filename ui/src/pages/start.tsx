/** Starts a run: a form from the workflow's parameters, with what was given lately. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { startRun } from "../api/actions";
import { type Priority, type Run, someRuns, type Workflow, workflow as workflowQuery } from "../api/queries";
import { Skeleton } from "../parts/bits";
import { oneLine } from "../parts/format";
import { Problem } from "../parts/problem";
import { Page } from "../shell/page";
import { type ParamSpec, paramsOf, shown, valuesOf } from "./start-params";

const route = getRouteApi("/shell/workflows/$name/start");
const PRIORITIES: Priority[] = ["highest", "high", "medium", "low", "lowest"];

export function StartPage() {
  const { name } = route.useParams();
  const found = useQuery(workflowQuery(name));
  return (
    <Page
      crumbs={[{ label: "Workflows", to: "/workflows" }, { label: name, to: `/workflows/${name}` }, { label: "Start" }]}
    >
      <div className="page-head">
        <div>
          <h1>Start {name}</h1>
          {found.data?.description && <p className="soft">{found.data.description}</p>}
        </div>
      </div>
      {found.isError ? <Problem error={found.error} /> : found.data ? <Form workflow={found.data} /> : <Skeleton />}
    </Page>
  );
}

function Form({ workflow }: { workflow: Workflow }) {
  const navigate = useNavigate();
  const specs = paramsOf(workflow.definition);
  const lately = useQuery(someRuns({ workflow: workflow.name }, 10)).data;
  const [typed, setTyped] = useState<Record<string, string>>({});
  const [more, setMore] = useState({ priority: "", logical_time: "", only_task: "", from_task: "" });
  const starting = useMutation({
    mutationFn: () =>
      startRun({
        workflow: workflow.name,
        params: valuesOf(specs, typed),
        priority: (more.priority || undefined) as Priority | undefined,
        logical_time: more.logical_time ? new Date(more.logical_time).toISOString() : undefined,
        only_task: more.only_task || undefined,
        from_task: more.from_task || undefined,
      }),
    onSuccess: (run) => void navigate({ to: "/runs/$run", params: { run: run.id } }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    starting.mutate();
  };
  const tasks = Object.keys((workflow.definition.tasks ?? {}) as object);
  return (
    <form className="stack" style={{ maxWidth: 620 }} onSubmit={submit}>
      <section className="card card-body stack" aria-label="Parameters">
        {specs.length === 0 && <p className="soft">This workflow has no parameters.</p>}
        {specs.map((spec) => (
          <Param
            key={spec.name}
            spec={spec}
            value={typed[spec.name] ?? shown(spec.default)}
            set={(value) => setTyped((all) => ({ ...all, [spec.name]: value }))}
            lately={latelyOf(lately, spec.name)}
          />
        ))}
      </section>
      <details className="card">
        <summary className="card-head" style={{ cursor: "pointer", borderBottom: 0 }}>
          <span>▸ More: priority, logical time, only a part</span>
        </summary>
        <div className="card-body stack">
          <div className="field">
            <label htmlFor="priority">Priority</label>
            <select
              id="priority"
              className="select"
              value={more.priority}
              onChange={(event) => setMore({ ...more, priority: event.target.value })}
            >
              <option value="">As the workflow says</option>
              {PRIORITIES.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </div>
          <div className="field">
            <label htmlFor="logical">Logical time, here</label>
            <input
              id="logical"
              type="datetime-local"
              className="input"
              value={more.logical_time}
              onChange={(event) => setMore({ ...more, logical_time: event.target.value })}
            />
            <span className="help">The due time that the run is about. Now, if left empty.</span>
          </div>
          {(
            [
              ["from_task", "Begin with task", "Only it and what comes after."],
              ["only_task", "Only task", "Nothing else."],
            ] as const
          ).map(([key, label, help]) => (
            <div key={key} className="field">
              <label htmlFor={key}>{label}</label>
              <select
                id={key}
                className="select"
                value={more[key]}
                onChange={(event) => setMore({ ...more, [key]: event.target.value })}
              >
                <option value="">–</option>
                {tasks.map((task) => (
                  <option key={task}>{task}</option>
                ))}
              </select>
              <span className="help">{help}</span>
            </div>
          ))}
        </div>
      </details>
      {starting.isError && <Problem error={starting.error} />}
      <div className="row">
        <button type="submit" className="btn primary" disabled={starting.isPending}>
          {starting.isPending ? "Starting…" : "Start"}
        </button>
      </div>
    </form>
  );
}

interface ParamProps {
  spec: ParamSpec;
  value: string;
  set: (value: string) => void;
  lately: string[];
}

/** So many values that were given lately are offered. */
const LATELY = 5;
const KINDS: Record<string, string> = { integer: "number", number: "number" };

function Param({ spec, value, set, lately }: ParamProps) {
  const id = `param-${spec.name}`;
  const isTemplate = value.includes("${{");
  return (
    <div className="field">
      <label htmlFor={id}>
        {spec.name} <span className="muted small">{spec.type}</span>
      </label>
      {spec.choices.length > 0 || spec.type === "boolean" ? (
        <select id={id} className="select" value={value} onChange={(event) => set(event.target.value)}>
          {spec.default === undefined && <option value="">Choose…</option>}
          {(spec.choices.length > 0 ? spec.choices : [true, false]).map((choice) => (
            <option key={shown(choice)} value={shown(choice)}>
              {shown(choice)}
            </option>
          ))}
        </select>
      ) : spec.type === "list" || spec.type === "object" ? (
        <textarea id={id} className="textarea" rows={3} value={value} onChange={(event) => set(event.target.value)} />
      ) : (
        <input
          id={id}
          className="input wide"
          type={isTemplate ? "text" : (KINDS[spec.type] ?? "text")}
          step="any"
          required={spec.default === undefined}
          value={value}
          onChange={(event) => set(event.target.value)}
        />
      )}
      {spec.description && <span className="help">{spec.description}</span>}
      {lately.length > 0 && (
        <fieldset className="row wrap-row lately">
          <legend className="sr">Lately given as {spec.name}</legend>
          <span className="help" aria-hidden="true">
            Lately
          </span>
          {lately.map((each) => (
            <button
              key={each}
              type="button"
              className="btn small"
              aria-pressed={each === value}
              title={each}
              onClick={() => set(each)}
            >
              <span className="ellipsis">{each}</span>
            </button>
          ))}
        </fieldset>
      )}
    </div>
  );
}

function latelyOf(runs: Run[] | undefined, name: string): string[] {
  const values = (runs ?? []).map((run) => run.params[name]).filter((value) => value !== undefined);
  return [...new Set(values.map(oneLine))].slice(0, LATELY);
}
