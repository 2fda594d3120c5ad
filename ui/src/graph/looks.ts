/** How each task of a run stands, from its jobs or from how many of them are where. */
import type { Job, JobCounts, JobState, TaskCounts } from "../api/queries";
import { count } from "../parts/format";
import { look, type Tone } from "../parts/state";

export interface TaskLook {
  tone: Tone;
  /** A few words under the name. */
  sub: string;
  state?: JobState;
}

/** From here on a number is told by its size: `1M`. */
const MANY = 100_000;
const round = (number: number) =>
  new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 }).format(number);

/** What several jobs are called together, worst first. */
const WORST: JobState[] = ["failed", "running", "backoff", "held", "ready", "waiting", "stopped", "success", "skipped"];

export function worstOf(counts: Partial<JobCounts>): JobState {
  return WORST.find((state) => (counts[state] ?? 0) > 0) ?? "waiting";
}

export function looksOf(jobs: Job[]): Map<string, TaskLook> {
  const byTask = new Map<string, { counts: Partial<JobCounts>; attempts: number }>();
  for (const job of jobs) {
    const known = byTask.get(job.task) ?? { counts: {}, attempts: 0 };
    known.counts[job.state] = (known.counts[job.state] ?? 0) + 1;
    known.counts.total = (known.counts.total ?? 0) + 1;
    known.attempts = job.attempts.length;
    byTask.set(job.task, known);
  }
  return new Map([...byTask].map(([task, { counts, attempts }]) => [task, lookOf(counts, attempts)]));
}

export function looksOfCounts(tasks: TaskCounts[]): Map<string, TaskLook> {
  return new Map(tasks.map(({ task, job_counts }) => [task, lookOf(job_counts, 0)]));
}

function lookOf(counts: Partial<JobCounts>, attempts: number): TaskLook {
  const state = worstOf(counts);
  const { tone, word } = look(state);
  if (counts.total === 1) return { tone, state, sub: attempts > 1 ? `${word} · attempt ${attempts}` : word };
  const done = (counts.success ?? 0) + (counts.skipped ?? 0);
  const failed = counts.failed ?? 0;
  const total = counts.total ?? 0;
  const bad = failed ? ` · ${count(failed)} failed` : "";
  // A box has room for two dozen letters.
  const sub =
    total < MANY ? `${count(done)}/${count(total)} done${bad}` : `${count(done)}/${round(total)}${bad || " done"}`;
  return { tone, state, sub };
}
