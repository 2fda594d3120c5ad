import { expect, it } from "vitest";
import type { Run } from "../api/queries";
import { daysOf, stateOfDay, weeksTo } from "./calendar-days";

const planned = (logical_time: string, exists: string | null = null) => ({ logical_time, exists, wanted: !exists });
const run = (id: string, logical_time: string, state: string, kind = "schedule") =>
  ({ id, logical_time, state, trigger: { kind } }) as Run;

it("puts moments on the days of the schedule's zone, and says what is missing", () => {
  const days = daysOf(
    [planned("2026-01-01T23:30:00Z"), planned("2026-01-02T23:30:00.000Z"), planned("2026-01-03T23:30:00Z", "C")],
    // Newest first, as a list of runs is.
    [run("B2", "2026-01-02T23:30:00Z", "failed"), run("B1", "2026-01-02T23:30:00Z", "success")],
    "Europe/Oslo",
  );
  expect([...days.values()].map((day) => [day.date, stateOfDay(day), day.moments[0]?.run?.id])).toEqual([
    ["2026-01-02", "missing", undefined],
    ["2026-01-03", "failed", "B2"],
    ["2026-01-04", "success", "C"],
  ]);
});

it("leaves out what somebody started by hand at no moment of the schedule", () => {
  const days = daysOf([], [run("A", "2026-01-02T10:00:00Z", "success", "call")], "UTC");
  expect(days.size).toBe(0);
});

it("shows whole weeks", () => {
  const weeks = weeksTo("2026-11-18", 2);
  expect(weeks.map((week) => [week[0], week[6]])).toEqual([
    ["2026-11-09", "2026-11-15"],
    ["2026-11-16", "2026-11-22"],
  ]);
});
