/** What can be done with a run or a job as it is now, and what would happen. */
import { controlJob, controlRun, type JobVerb, type RunVerb } from "../api/actions";
import type { Job, Run } from "../api/queries";
import type { Wish } from "../parts/confirm";
import { plural } from "../parts/format";

const OPEN = new Set(["pending", "running", "pausing", "paused", "stopping"]);

export function runVerbs(run: Run): RunVerb[] {
  const verbs: RunVerb[] = [];
  if (run.state === "pending" || run.state === "running") verbs.push("pause");
  if (run.state === "paused" || run.state === "pausing") verbs.push("resume");
  if (OPEN.has(run.state) && run.state !== "stopping") verbs.push("stop");
  if (run.state === "failed" || run.state === "stopped") verbs.push("recover");
  if (!OPEN.has(run.state)) verbs.push("rerun");
  return verbs;
}

export const RUN_WORDS: Record<RunVerb, string> = {
  stop: "Stop",
  pause: "Pause",
  resume: "Resume",
  recover: "Recover",
  rerun: "Run again",
};

/** The question before a verb, with what it would do to this run. */
export function runWish(run: Run, verb: RunVerb, opened: (run: Run) => void): Wish<Run> {
  const counts = run.job_counts;
  const running = counts.running ?? 0;
  const left = (counts.waiting ?? 0) + (counts.ready ?? 0) + (counts.backoff ?? 0) + (counts.held ?? 0);
  const again = (counts.failed ?? 0) + (counts.stopped ?? 0);
  const title = `${RUN_WORDS[verb]} ${run.workflow}?`;
  const base = { title, verb: RUN_WORDS[verb], act: () => controlRun(run.id, verb) };
  switch (verb) {
    case "stop":
      return {
        ...base,
        danger: true,
        done: "The run is being stopped.",
        about: `${plural(running, "running job")} will be ended, first asked and then forced; ${plural(left, "job")} will not start. It can be recovered later.`,
      };
    case "pause":
      return {
        ...base,
        done: "The run is being paused.",
        about: `Nothing new of it starts. ${plural(running, "running job")} will finish; ${plural(left, "job")} will wait until it is resumed.`,
      };
    case "resume":
      return { ...base, done: "The run goes on.", about: `${plural(left, "job")} may start again.` };
    case "recover":
      return {
        ...base,
        done: "The run is open again.",
        about: `${plural(again, "job")} that failed or stopped will be tried again, and what comes after. ${plural(counts.success ?? 0, "job")} that succeeded will not be repeated.`,
      };
    case "rerun":
      return {
        ...base,
        done: "A new run has begun.",
        about: `A new run of the same version with the same parameters and logical time: all ${plural(counts.total ?? 0, "job")}. This one stays as it is.`,
        afterwards: opened,
      };
  }
}

export function jobVerbs(run: Run, job: Job): JobVerb[] {
  if (job.state === "failed") return ["retry", "force-success"];
  if (job.state === "stopped") return run.state === "stopped" || run.state === "failed" ? ["retry"] : [];
  if (job.state === "held" && /approv/i.test(job.reason)) return ["approve", "reject"];
  return [];
}

export const JOB_WORDS: Record<JobVerb, string> = {
  retry: "Retry",
  "force-success": "Force success",
  approve: "Approve",
  reject: "Reject",
};

export function jobWish(run: Run, job: Job, verb: JobVerb, after: number): Wish<Run> {
  const name = job.index === null || job.index === undefined ? job.task : `${job.task} [${job.index}]`;
  const base = {
    title: `${JOB_WORDS[verb]} ${name}?`,
    verb: JOB_WORDS[verb],
    act: (comment: string) => controlJob(run.id, job.number, verb, comment),
  };
  const rest = after > 0 ? ` ${plural(after, "task")} after it will be decided again.` : "";
  switch (verb) {
    case "retry":
      return {
        ...base,
        done: `${name} is tried again.`,
        about: `It gets a new attempt, number ${job.attempts.length + 1}.${rest}`,
      };
    case "force-success":
      return {
        ...base,
        danger: true,
        done: `${name} counts as a success.`,
        about: `It counts as a success although it failed; it has no outputs. Who did this is recorded.${rest}`,
      };
    case "approve":
      return {
        ...base,
        comment: true,
        done: `${name} is approved.`,
        about: `It succeeds, and what waits for it goes on.${rest}`,
      };
    case "reject":
      return {
        ...base,
        comment: true,
        danger: true,
        done: `${name} is rejected.`,
        about: `It fails, and what waits for its success is skipped.${rest}`,
      };
  }
}
