/** Writes workflows: YAML, the server's own words about it, and its graph, all at once. */
import type { EditorView } from "@codemirror/view";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { applyWorkflow, startRun, validate } from "../api/actions";
import { type Diagnostic, type Graph as Shape, workflow as workflowQuery } from "../api/queries";
import { withDependency } from "../editor/change";
import { Code, offset } from "../editor/code";
import type { Schema } from "../editor/schema";
import { TaskForm } from "../editor/task-form";
import { Graph } from "../graph/graph";
import { Empty, Skeleton } from "../parts/bits";
import { plural } from "../parts/format";
import { CheckIcon, WarnIcon } from "../parts/icons";
import { Problem } from "../parts/problem";
import { useToasts } from "../parts/toasts";
import { Page } from "../shell/page";
import { Crontab } from "./crontab";

const route = getRouteApi("/shell/editor");
/** The server is asked when nobody has typed for so long. */
const QUIET_MS = 250;

const START = `name: my-workflow
description: What it is for.
tasks:
  first:
    run: echo "hello from Windlass"
  second:
    depends_on: [first]
    retries: {max: 2, delay: 5s}
    run: echo "after the first"
`;

export function EditorPage() {
  const { workflow, crontab } = route.useSearch();
  const found = useQuery({ ...workflowQuery(workflow ?? ""), enabled: workflow !== undefined, refetchInterval: false });
  const crumbs = workflow
    ? [{ label: "Workflows", to: "/workflows" }, { label: workflow, to: `/workflows/${workflow}` }, { label: "Edit" }]
    : [{ label: crontab ? "Paste a crontab" : "Editor" }];
  return (
    <Page crumbs={crumbs} fill>
      {crontab ? (
        <Crontab />
      ) : workflow === undefined ? (
        <Editor key="new" initial={START} />
      ) : found.isError ? (
        <Problem error={found.error} />
      ) : found.data ? (
        <Editor key={workflow} initial={found.data.text ?? ""} />
      ) : (
        <Skeleton />
      )}
    </Page>
  );
}

function Editor({ initial }: { initial: string }) {
  const [text, setText] = useState(initial);
  const [saved, setSaved] = useState(initial);
  const [task, setTask] = useState<string | null>(null);
  const [refused, setRefused] = useState<Diagnostic | null>(null);
  const view = useRef<EditorView | null>(null);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toasts = useToasts();
  const { checked, asking } = useValidation(text);
  const schema = useQuery({
    queryKey: ["schema"],
    queryFn: async () => (await (await fetch("/docs/reference/workflow-v1.schema.json")).json()) as Schema,
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
  const name = checked?.name;
  const valid = checked?.valid === true;
  const storing = useMutation({
    mutationFn: () => applyWorkflow(name ?? "", text),
    onSuccess: (applied) => {
      toasts.done(applied.changed ? `Stored as version ${applied.version}.` : "Nothing has changed.");
      setSaved(text);
      void queries.invalidateQueries();
    },
  });
  const starting = useMutation({
    mutationFn: () => startRun({ definition: text }),
    onSuccess: (run) => void navigate({ to: "/runs/$run", params: { run: run.id } }),
  });
  /** Draws a dependency, unless the server says that it makes a circle. */
  const connect = async (from: string, to: string) => {
    const changed = withDependency(text, from, to);
    if (changed === null) return;
    const verdict = await validate(changed).catch(() => null);
    const circle = verdict?.diagnostics.find((each) => each.code === "cycle");
    setRefused(circle ?? null);
    if (!circle) setText(changed);
  };
  const go = (diagnostic: Diagnostic) => {
    const editor = view.current;
    if (!editor) return;
    const place = offset(editor.state, diagnostic.line ?? 1, diagnostic.column ?? 1);
    editor.dispatch({ selection: { anchor: place }, scrollIntoView: true });
    editor.focus();
  };
  const diagnostics = checked?.diagnostics ?? [];
  const errors = diagnostics.filter((each) => each.severity === "error").length;
  return (
    <>
      <div className="page-head" style={{ marginBottom: 12 }}>
        <div className="row">
          <h1>{name ?? "Workflow"}</h1>
          <span aria-live="polite">
            {valid ? (
              <span className="state chip tone-ok">
                <CheckIcon size={13} /> Valid
              </span>
            ) : checked ? (
              <span className="state chip tone-bad">
                <WarnIcon size={13} /> {plural(errors, "mistake")}
              </span>
            ) : null}
          </span>
          {text !== saved && <span className="muted">not stored</span>}
        </div>
        <div className="row">
          <button
            type="button"
            className="btn"
            disabled={!valid || asking || starting.isPending}
            onClick={() => starting.mutate()}
            title="Runs this text once, without storing it"
          >
            Try it
          </button>
          <button
            type="button"
            className="btn primary"
            disabled={!valid || asking || storing.isPending}
            onClick={() => storing.mutate()}
          >
            Store
          </button>
          {storing.isSuccess && name && (
            <Link to="/workflows/$name/start" params={{ name }} className="btn">
              Start…
            </Link>
          )}
        </div>
      </div>
      {(storing.isError || starting.isError) && (
        <div style={{ marginBottom: 10 }}>
          <Problem error={storing.error ?? starting.error} />
        </div>
      )}
      {refused && (
        <div className="notice bad" role="alert" style={{ marginBottom: 10 }}>
          <WarnIcon className="tone-bad" />
          <div style={{ flex: 1 }}>
            <strong>That would be a circle.</strong> {refused.message}
          </div>
          <button type="button" className="btn small" onClick={() => setRefused(null)}>
            Close
          </button>
        </div>
      )}
      <div className="editor">
        <Code text={text} change={setText} diagnostics={diagnostics} schema={schema} view={view} />
        <div className="beside">
          <Picture graph={checked?.graph ?? undefined} task={task} select={setTask} connect={connect} />
          {task && <TaskForm text={text} task={task} change={setText} close={() => setTask(null)} />}
          {diagnostics.length > 0 && (
            <section className="problems" aria-label="What is wrong">
              {diagnostics.map((each, place) => (
                <button key={place} type="button" onClick={() => go(each)}>
                  <span className={each.severity === "error" ? "tone-bad" : "tone-warn"}>
                    {each.severity}[{each.code}]
                  </span>{" "}
                  {each.message}
                  <span className="muted num">
                    {" "}
                    {each.line}:{each.column}
                  </span>
                  {each.help && <div className="soft small">{each.help}</div>}
                </button>
              ))}
            </section>
          )}
        </div>
      </div>
    </>
  );
}

interface PictureProps {
  graph: Shape | undefined;
  task: string | null;
  select: (task: string) => void;
  connect: (from: string, to: string) => void;
}

/** The graph of the last text that was right; a mistake does not take it away. */
function Picture({ graph, task, select, connect }: PictureProps) {
  const [last, setLast] = useState<Shape | undefined>(graph);
  useEffect(() => {
    if (graph) setLast(graph);
  }, [graph]);
  if (!last) return <Empty title="The graph comes when the text is right" />;
  return <Graph graph={last} selected={task} select={select} connect={connect} draft />;
}

/** What the server says about the text, a moment after it was last changed. */
function useValidation(text: string) {
  const [asked, setAsked] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), QUIET_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const found = useQuery({
    queryKey: ["validate", asked],
    queryFn: ({ signal }) => validate(asked, signal),
    placeholderData: (before) => before,
    gcTime: 10_000,
  });
  return { checked: found.data, asking: asked !== text || found.isFetching };
}
