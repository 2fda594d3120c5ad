import { expect, it } from "vitest";
import type { Job, TaskCounts } from "../api/queries";
import { looksOf, looksOfCounts, worstOf } from "./looks";

const job = (task: string, state: string, attempts = 1) =>
  ({ task, state, attempts: Array.from({ length: attempts }) }) as unknown as Job;
const counts = (task: string, job_counts: object) => ({ task, first_job: 0, job_counts }) as TaskCounts;

it("says the same of jobs that were read and of jobs that were counted", () => {
  const read = looksOf([job("a", "success"), job("b", "success"), job("b", "failed"), job("b", "ready")]);
  const counted = looksOfCounts([
    counts("a", { total: 1, success: 1 }),
    counts("b", { total: 3, success: 1, failed: 1, ready: 1 }),
  ]);
  expect(counted).toEqual(read);
  expect(read.get("b")).toEqual({ tone: "bad", state: "failed", sub: "1/3 done · 1 failed" });
});

it("names the newest attempt of a task that was tried again", () => {
  expect(looksOf([job("a", "running", 3)]).get("a")?.sub).toBe("Running · attempt 3");
});

it("has room for a million jobs in a box", () => {
  const look = (job_counts: object) => looksOfCounts([counts("x", job_counts)]).get("x");
  expect(look({ total: 1_000_000, ready: 999_725, success: 275 })?.sub).toBe("275/1M done");
  expect(look({ total: 1_000_000, success: 123_456, failed: 7 })?.sub).toBe("123,456/1M · 7 failed");
  expect(look({ total: 99_999, success: 99_999 })?.sub).toBe("99,999/99,999 done");
});

it("takes the worst state of several", () => {
  expect(worstOf({ total: 3, success: 2, running: 1 })).toBe("running");
  expect(worstOf({ total: 0 })).toBe("waiting");
});
