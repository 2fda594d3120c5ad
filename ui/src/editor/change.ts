/** Changes to a workflow's text that keep everything else of it, comments too. Pure. */
import { isMap, isScalar, isSeq, parseDocument } from "yaml";

const FORMAT = { lineWidth: 0, flowCollectionPadding: false } as const;

/** The text with one task waiting for another; `null` if it has no such task or waits for it already. */
export function withDependency(text: string, from: string, to: string): string | null {
  const document = parseDocument(text);
  const part = document.hasIn(["tasks", to]) ? "tasks" : "finally";
  if (!document.hasIn([part, to])) return null;
  const path = [part, to, "depends_on"];
  const now = document.getIn(path, true);
  const names = isSeq(now)
    ? now.items.map((item) => String(isScalar(item) ? item.value : item))
    : isScalar(now)
      ? [String(now.value)]
      : [];
  if (names.includes(from)) return null;
  const list = document.createNode([...names, from]);
  if (isSeq(list)) list.flow = true;
  document.setIn(path, list);
  return document.toString(FORMAT);
}

export interface TaskFields {
  run: string;
  depends_on: string;
  retries: string;
  timeout: string;
  when: string;
}

/** What a form shows of a task; `null` if there is none. */
export function taskFields(text: string, task: string): TaskFields | null {
  const document = parseDocument(text);
  const part = document.hasIn(["tasks", task]) ? "tasks" : "finally";
  const node = document.getIn([part, task], true);
  if (!isMap(node)) return null;
  const value = node.toJSON() as Record<string, unknown>;
  const shown = (of: unknown) =>
    of === undefined || of === null
      ? ""
      : typeof of === "object"
        ? Array.isArray(of)
          ? of.join(", ")
          : JSON.stringify(of)
        : String(of);
  return {
    run: shown(value.run),
    depends_on: shown(value.depends_on),
    retries: shown(value.retries),
    timeout: shown(value.timeout),
    when: shown(value.when),
  };
}

/** The text with one field of a task changed; an empty one is removed. */
export function withField(text: string, task: string, field: keyof TaskFields, value: string): string {
  const document = parseDocument(text);
  const part = document.hasIn(["tasks", task]) ? "tasks" : "finally";
  const path = [part, task, field];
  if (value.trim() === "") document.deleteIn(path);
  else if (field === "depends_on") {
    const list = document.createNode(
      value
        .split(",")
        .map((name) => name.trim())
        .filter(Boolean),
    );
    if (isSeq(list)) list.flow = true;
    document.setIn(path, list);
  } else if (field === "retries") {
    const parsed = /^\d+$/.test(value) ? Number(value) : parseDocument(value).toJSON();
    document.setIn(path, document.createNode(parsed));
  } else document.setIn(path, value);
  return document.toString(FORMAT);
}
