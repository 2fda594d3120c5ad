import { expect, it } from "vitest";
import type { Graph } from "../api/queries";
import { CELL, cellsOf, corner, fitted, NODE, path, points, taskAt, zoom } from "./geometry";

const task = (id: string, x: number, y: number) => ({ id, x, y, type: "noop", foreach: false, finally: false });
const graph: Graph = {
  width: 3,
  height: 2,
  tasks: [task("a", 0, 0), task("b", 1, 1), task("c", 2, 0)],
  edges: [
    { from: 0, to: 1, bends: [] },
    { from: 0, to: 2, bends: [[1, 0]] },
  ],
};

it("leads edges out of boxes, through free cells and into boxes", () => {
  const through = points(graph, graph.edges[1] as Graph["edges"][number]);
  expect(through).toHaveLength(4);
  expect(through[0]?.x).toBe(corner({ x: 0, y: 0 }).x + NODE.width);
  expect(through[3]?.x).toBe(corner({ x: 2, y: 0 }).x);
  expect(path(through)).not.toContain("C");
  expect(path(points(graph, graph.edges[0] as Graph["edges"][number]))).toContain("C");
});

it("finds the task under a point", () => {
  const cells = cellsOf(graph);
  const b = corner({ x: 1, y: 1 });
  expect(taskAt(cells, { x: b.x + 1, y: b.y + 1 })).toBe(1);
  expect(taskAt(cells, { x: b.x + CELL.width - 5, y: b.y + 1 })).toBeUndefined();
});

it("keeps what is under the pointer there while it zooms", () => {
  const view = zoom({ scale: 1, x: 10, y: 20 }, 1.5, { x: 110, y: 220 });
  expect((110 - view.x) / view.scale).toBeCloseTo(100);
  expect((220 - view.y) / view.scale).toBeCloseTo(200);
});

it("fits large pictures and leaves small ones as they are", () => {
  expect(fitted({ width: 2000, height: 100 }, { width: 1000, height: 500 }).scale).toBe(0.5);
  expect(fitted({ width: 9000, height: 100 }, { width: 1000, height: 500 }, 0.5)).toMatchObject({ scale: 0.5, x: 0 });
  expect(fitted({ width: 200, height: 100 }, { width: 1000, height: 500 }).scale).toBe(1);
});
