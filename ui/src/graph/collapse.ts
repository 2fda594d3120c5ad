/** Large graphs by groups: tasks whose ids begin alike are one box until somebody opens it. Pure. */
import type { Graph } from "../api/queries";
import { count, plural } from "../parts/format";
import type { Tone } from "../parts/state";
import type { TaskLook } from "./looks";

/** Fewer tasks than this are no group. */
const LEAST = 3;

/** What a task's id begins with: `load_eu_7` is of `load_eu`. */
export function groupOf(id: string): string | undefined {
  return /^(.+)[._-][^._-]+$/.exec(id)?.[1];
}

export interface Collapsed {
  graph: Graph;
  /** The tasks of each closed group, by the id of its box. */
  members: Map<string, string[]>;
}

/** The graph with its groups closed, but for those that were opened. */
export function collapse(graph: Graph, opened: ReadonlySet<string>): Collapsed {
  const sizes = new Map<string, number>();
  for (const task of graph.tasks) {
    const group = groupOf(task.id);
    if (group !== undefined) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  }
  const boxOf = (id: string) => {
    const group = groupOf(id);
    return group !== undefined && (sizes.get(group) ?? 0) >= LEAST && !opened.has(group) ? `${group}…` : id;
  };
  const places = new Map<string, number>();
  const members = new Map<string, string[]>();
  const tasks: Graph["tasks"] = [];
  const at = graph.tasks.map((task) => {
    const box = boxOf(task.id);
    if (box !== task.id) members.set(box, [...(members.get(box) ?? []), task.id]);
    const known = places.get(box);
    if (known !== undefined) return known;
    places.set(box, tasks.length);
    tasks.push({ ...task, id: box, foreach: box !== task.id || task.foreach, description: null });
    return tasks.length - 1;
  });
  for (const task of tasks) {
    const inside = members.get(task.id);
    if (inside) task.type = plural(inside.length, "task");
  }
  const seen = new Set<string>();
  const edges = graph.edges.flatMap((edge) => {
    const [from, to] = [at[edge.from] ?? 0, at[edge.to] ?? 0];
    const key = `${from} ${to}`;
    if (from === to || seen.has(key)) return [];
    seen.add(key);
    return [{ from, to }];
  });
  return { graph: laidOut(tasks, edges), members };
}

/** Each box right of all that it waits for, as far as groups do not wait for each other. */
function laidOut(tasks: Graph["tasks"], edges: Graph["edges"]): Graph {
  const after = tasks.map((): number[] => []);
  const waits = tasks.map(() => 0);
  for (const { from, to } of edges) {
    after[from]?.push(to);
    waits[to] = (waits[to] ?? 0) + 1;
  }
  const column = tasks.map(() => 0);
  const left = new Set(tasks.keys());
  let ready = [...left].filter((place) => waits[place] === 0);
  while (left.size > 0) {
    // Groups in a circle: the one that the server has leftmost goes first.
    if (ready.length === 0)
      ready = [[...left].reduce((one, other) => ((tasks[other]?.x ?? 0) < (tasks[one]?.x ?? 0) ? other : one))];
    const next: number[] = [];
    for (const place of ready) {
      left.delete(place);
      for (const to of after[place] ?? []) {
        if (!left.has(to)) continue;
        column[to] = Math.max(column[to] ?? 0, (column[place] ?? 0) + 1);
        waits[to] = (waits[to] ?? 1) - 1;
        if (waits[to] === 0) next.push(to);
      }
    }
    ready = next;
  }
  const rows = new Map<number, number>();
  const placed = tasks.map((task, place) => {
    const x = column[place] ?? 0;
    const y = rows.get(x) ?? 0;
    rows.set(x, y + 1);
    return { ...task, x, y };
  });
  return { tasks: placed, edges, width: Math.max(0, ...column) + 1, height: Math.max(1, ...rows.values()) };
}

/** What somebody should look at first. */
const WORST: Tone[] = ["bad", "run", "warn", "idle", "ok", "skip"];

/** How each closed group stands, from its tasks. */
export function groupLooks(looks: Map<string, TaskLook>, members: Map<string, string[]>): Map<string, TaskLook> {
  const all = new Map(looks);
  for (const [box, inside] of members) {
    const known = inside.flatMap((id) => looks.get(id) ?? []);
    const tone = WORST.find((each) => known.some((of) => of.tone === each)) ?? "idle";
    const done = known.filter(({ state }) => state === "success" || state === "skipped").length;
    const failed = known.filter(({ state }) => state === "failed").length;
    const state = known.find((of) => of.tone === tone)?.state;
    const sub = `${count(done)}/${count(inside.length)} done${failed ? ` · ${count(failed)} failed` : ""}`;
    all.set(box, { tone, state, sub: known.length === 0 ? plural(inside.length, "task") : sub });
  }
  return all;
}
