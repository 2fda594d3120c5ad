/** How each task of a run stands, from its jobs. */
import type { Job, JobState } from "../api/queries";
import { count } from "../parts/format";
import { look, type Tone } from "../parts/state";

export interface TaskLook {
  tone: Tone;
  /** A few words under the name. */
  sub: string;
  state?: JobState;
}

/** What a task with several jobs is called, worst first. */
const WORST: JobState[] = ["failed", "running", "backoff", "held", "ready", "waiting", "stopped", "success", "skipped"];

export function looksOf(jobs: Job[]): Map<string, TaskLook> {
  const byTask = new Map<string, Job[]>();
  for (const job of jobs) {
    const known = byTask.get(job.task);
    if (known) known.push(job);
    else byTask.set(job.task, [job]);
  }
  return new Map([...byTask].map(([task, of]) => [task, lookOf(of)]));
}

function lookOf(jobs: Job[]): TaskLook {
  const counts = new Map<JobState, number>();
  for (const job of jobs) counts.set(job.state, (counts.get(job.state) ?? 0) + 1);
  const state = WORST.find((each) => counts.has(each)) ?? "waiting";
  const { tone, word } = look(state);
  if (jobs.length === 1) {
    const attempts = jobs[0]?.attempts.length ?? 0;
    return { tone, state, sub: attempts > 1 ? `${word} · attempt ${attempts}` : word };
  }
  const done = (counts.get("success") ?? 0) + (counts.get("skipped") ?? 0);
  const failed = counts.get("failed");
  return {
    tone,
    state,
    sub: `${count(done)}/${count(jobs.length)} done${failed ? ` · ${count(failed)} failed` : ""}`,
  };
}
