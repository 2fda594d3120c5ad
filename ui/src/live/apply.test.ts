import { QueryClient } from "@tanstack/react-query";
import { describe, expect, it } from "vitest";
import type { Job, Run } from "../api/queries";
import { apply, Changes, mergedRuns, withJobs } from "./apply";
import { EventCutter } from "./sse";

const run = (id: string, more: Partial<Run> = {}) =>
  ({ id, workflow: "w", state: "running", created_at: `2026-01-01T00:00:0${id}Z`, ...more }) as Run;
const job = (number: number, more: Partial<Job> = {}) => ({ number, task: "a", state: "running", ...more }) as Job;
const told = (...runs: Run[]) => new Map(runs.map((each) => [each.id, each]));

describe("the stream", () => {
  it("is cut into events wherever its pieces end", () => {
    const cutter = new EventCutter();
    expect(cutter.push("event: run\nid: m-1\nda")).toEqual([]);
    expect(cutter.push('ta: {"id":1}\n\n: alive\n\nevent: job\ndata: x\n')).toEqual([
      { name: "run", id: "m-1", data: '{"id":1}' },
    ]);
    expect(cutter.push("\n")).toEqual([{ name: "job", id: "", data: "x" }]);
  });
});

describe("a list of runs", () => {
  it("shows a change where it stands and a new run first", () => {
    const items = [run("2"), run("1")];
    const merged = mergedRuns(items, told(run("1", { state: "success" }), run("3")), {});
    expect(merged.map((each) => [each.id, each.state])).toEqual([
      ["3", "running"],
      ["2", "running"],
      ["1", "success"],
    ]);
  });

  it("leaves out what its filter does not want", () => {
    const merged = mergedRuns([run("1")], told(run("1", { state: "success" }), run("2", { workflow: "other" })), {
      state: "running",
      workflow: "w",
    });
    expect(merged).toEqual([]);
  });

  it("stays the same thing when nothing of it was told", () => {
    const items = [run("2")];
    expect(mergedRuns(items, told(run("1")), {})).toBe(items);
  });
});

describe("jobs", () => {
  it("are changed on their page, and new ones go to the last", () => {
    const data = {
      pages: [
        { items: [job(0), job(1)], next_cursor: "j1" },
        { items: [job(2)], next_cursor: null },
      ],
      pageParams: [],
    };
    const now = withJobs(
      data,
      new Map([
        [1, job(1, { state: "success" })],
        [3, job(3)],
      ]),
      {},
    );
    expect(now.pages.map((page) => page.items.map((each) => `${each.number}${each.state}`))).toEqual([
      ["0running", "1success"],
      ["2running", "3running"],
    ]);
  });
});

describe("changes", () => {
  it("keep of each thing only how it is now", () => {
    const changes = new Changes();
    for (const state of ["pending", "running", "success"])
      changes.add("run", JSON.stringify(run("1", { state: state as never })));
    expect(changes.runs.size).toBe(1);
    const queries = new QueryClient();
    queries.setQueryData(["run", "1"], run("1"));
    apply(queries, changes);
    expect(queries.getQueryData<Run>(["run", "1"])?.state).toBe("success");
  });
});
