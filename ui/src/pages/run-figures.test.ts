import { expect, it } from "vitest";
import type { Run } from "../api/queries";
import { successRate, trend, usualOf } from "./run-figures";

/** Runs that took so many seconds, newest first; one that failed takes a negative time. */
const took = (...seconds: number[]) =>
  seconds.map((each) => ({
    state: each < 0 ? "failed" : "success",
    started_at: new Date(0).toISOString(),
    finished_at: new Date(Math.abs(each) * 1000).toISOString(),
  })) as Run[];

it("says how often runs succeed", () => {
  expect(successRate(undefined)).toBeUndefined();
  expect(successRate([])).toBeUndefined();
  expect(successRate(took(1, 1, -1, 1))).toBe("75 %");
  expect(successRate([{ state: "running" }, { state: "stopped" }] as Run[])).toBeUndefined();
});

it("takes the middle one of successful runs", () => {
  expect(usualOf(took(9, 1, -100, 2))).toBe(2000);
  expect(usualOf(took(-1))).toBeUndefined();
});

it("compares the newer half with the older one, once there are enough", () => {
  expect(trend(took(4, 4, 2, 2))).toBeUndefined();
  expect(trend(took(4, 4, 4, 2, 2, 2))).toBe(1);
  expect(trend(took(1, 1, 1, -50, 2, 2, 2))).toBe(-0.5);
  expect(trend(took(2, 2, 2, 2, 2, 2))).toBe(0);
});
