import { expect, it } from "vitest";
import type { Attempt, Graph, Job } from "../api/queries";
import { barsOf, endsOf } from "./gantt-bars";

const at = (second: number) => new Date(second * 1000).toISOString();
const attempt = (number: number, more: Partial<Attempt>) => ({ number, state: "success", ...more }) as Attempt;
const job = (task: string, state: string, attempts: Attempt[]) =>
  ({ task, state, attempts, number: 0 }) as unknown as Job;
const graph = { tasks: [{ id: "a" }, { id: "b" }], edges: [{ from: 0, to: 1 }] } as unknown as Graph;

it("shows waiting from when dependencies are done, and every attempt", () => {
  const a = job("a", "success", [attempt(1, { started_at: at(1), finished_at: at(4) })]);
  const b = job("b", "running", [
    attempt(1, { state: "failed", started_at: at(5), finished_at: at(6) }),
    attempt(2, { state: "running", started_at: at(8) }),
  ]);
  const bars = barsOf(b, graph, endsOf([a, b]), 0, 10_000);
  expect(bars.map((bar) => [bar.kind, bar.from, bar.to])).toEqual([
    ["wait", 4000, 5000],
    ["work", 5000, 6000],
    ["wait", 6000, 8000],
    ["work", 8000, 10_000],
  ]);
});

it("shows that a job waits now", () => {
  const held = job("a", "held", []);
  expect(barsOf(held, graph, new Map(), 1000, 3000)).toEqual([
    { kind: "wait", from: 1000, to: 3000, state: "held", attempt: 1 },
  ]);
});
