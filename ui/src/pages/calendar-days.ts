/** Logical days of a workflow: what was due on each, and what became of it. Pure. */
import type { PlannedRun, Run } from "../api/queries";

export type DayState = "failed" | "running" | "missing" | "success" | "stopped";

export interface DueMoment {
  at: string;
  /** Its newest run, if it has one. */
  run?: Pick<Run, "id" | "state">;
  /** Whether its schedule says that there should be one. */
  due: boolean;
}

export interface Day {
  /** `2026-11-18`, in the schedule's zone. */
  date: string;
  moments: DueMoment[];
}

/** What a day with several is called, what somebody should look at first. */
const WORST: DayState[] = ["failed", "missing", "running", "stopped", "success"];

export function stateOf({ run }: DueMoment): DayState {
  if (!run) return "missing";
  if (run.state === "failed" || run.state === "success" || run.state === "stopped") return run.state;
  return "running";
}

export function stateOfDay(day: Day): DayState | undefined {
  const states = new Set(day.moments.map(stateOf));
  return WORST.find((state) => states.has(state));
}

/** The day of a moment in a zone. */
export function dateIn(at: string, zone: string): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" }).format(Date.parse(at));
}

/** Every day with something, by its date. A moment without a plan counts only if it had a run. */
export function daysOf(planned: PlannedRun[], runs: Run[], zone: string): Map<string, Day> {
  const moments = new Map<string, DueMoment>();
  const at = (time: string) => new Date(time).toISOString();
  for (const { logical_time, exists } of planned) {
    const run = exists ? { id: exists, state: "success" as const } : undefined;
    moments.set(at(logical_time), { at: logical_time, due: true, run });
  }
  // Oldest first, so that of several runs of a moment the newest stays.
  for (const run of runs.toReversed()) {
    const known = moments.get(at(run.logical_time));
    // A run that somebody started by hand is about the moment it was started, which is no moment of the schedule.
    if (known || run.trigger.kind !== "call")
      moments.set(at(run.logical_time), { at: run.logical_time, due: known?.due ?? false, run });
  }
  const days = new Map<string, Day>();
  for (const moment of [...moments.values()].sort((a, b) => Date.parse(a.at) - Date.parse(b.at))) {
    const date = dateIn(moment.at, zone);
    const day = days.get(date);
    if (day) day.moments.push(moment);
    else days.set(date, { date, moments: [moment] });
  }
  return days;
}

/** So many whole weeks up to one with a date, each from Monday. */
export function weeksTo(last: string, weeks: number): string[][] {
  const DAY = 86_400_000;
  const end = Date.parse(`${last}T00:00:00Z`);
  const monday = end - ((new Date(end).getUTCDay() + 6) % 7) * DAY;
  return Array.from({ length: weeks }, (_, week) =>
    Array.from({ length: 7 }, (_, day) =>
      new Date(monday + ((week - weeks + 1) * 7 + day) * DAY).toISOString().slice(0, 10),
    ),
  );
}
