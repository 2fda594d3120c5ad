import { expect, it } from "vitest";
import type { Graph } from "../api/queries";
import { collapse, groupLooks, groupOf } from "./collapse";

/** Layers of tasks `t0_0`, `t0_1`, …, each waiting for two of the layer before. */
function layers(many: number, wide: number): Graph {
  const tasks: Graph["tasks"] = [];
  const edges: Graph["edges"] = [];
  for (let x = 0; x < many; x += 1)
    for (let y = 0; y < wide; y += 1) {
      tasks.push({ id: `t${x}_${y}`, type: "noop", x, y });
      if (x > 0)
        for (const before of [y, (y + 7) % wide]) edges.push({ from: (x - 1) * wide + before, to: x * wide + y });
    }
  return { tasks, edges, width: many, height: wide };
}

it("names groups by what ids begin with", () => {
  expect(["load_eu_7", "a.b", "plain", "x-1"].map(groupOf)).toEqual(["load_eu", "a", undefined, "x"]);
});

it("makes one box of each group, in the order in which they wait", () => {
  const { graph, members } = collapse(layers(100, 100), new Set());
  expect(graph.tasks).toHaveLength(100);
  expect(graph.edges).toHaveLength(99);
  expect(graph.tasks.map((task) => task.x)).toEqual(Array.from({ length: 100 }, (_, x) => x));
  expect(graph.tasks[0]).toMatchObject({ id: "t0…", type: "100 tasks", foreach: true });
  expect(members.get("t7…")).toHaveLength(100);
});

it("shows the tasks of a group that was opened, and leaves small ones alone", () => {
  const { graph } = collapse(layers(3, 4), new Set(["t1"]));
  expect(graph.tasks.map((task) => task.id)).toEqual(["t0…", "t1_0", "t1_1", "t1_2", "t1_3", "t2…"]);
  expect(graph).toMatchObject({ width: 3, height: 4 });
  expect(collapse(layers(2, 2), new Set()).members.size).toBe(0);
});

it("ends with groups that wait for each other", () => {
  const graph = layers(2, 3);
  graph.edges.push({ from: 3, to: 1 });
  const shown = collapse(graph, new Set()).graph;
  expect(shown.tasks.map((task) => task.x)).toEqual([0, 1]);
});

it("says how a group stands by its worst task", () => {
  const { members } = collapse(layers(1, 3), new Set());
  const looks = groupLooks(
    new Map([
      ["t0_0", { tone: "ok", state: "success", sub: "" }],
      ["t0_1", { tone: "bad", state: "failed", sub: "" }],
    ]),
    members,
  );
  expect(looks.get("t0…")).toEqual({ tone: "bad", state: "failed", sub: "1/3 done · 1 failed" });
});
