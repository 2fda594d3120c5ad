/** From jobs to bars. Pure. */
import type { Graph, Job } from "../api/queries";

export interface Bar {
  kind: "wait" | "work";
  from: number;
  to: number;
  state: string;
  attempt: number;
}

/** When the last job of each task ended; nothing of tasks that go on. */
export function endsOf(jobs: Job[]): Map<string, number> {
  const ends = new Map<string, number>();
  for (const job of jobs) {
    const end = job.attempts.at(-1)?.finished_at;
    if (end) ends.set(job.task, Math.max(ends.get(job.task) ?? 0, Date.parse(end)));
  }
  return ends;
}

/** What a job did: it waited from when its dependencies were done until a process began, and between attempts. */
export function barsOf(
  job: Job,
  graph: Graph | undefined,
  ends: Map<string, number>,
  start: number,
  now: number,
): Bar[] {
  const bars: Bar[] = [];
  let free = Math.max(start, ...neededBy(graph, job.task).map((task) => ends.get(task) ?? start));
  for (const attempt of job.attempts) {
    const began = attempt.started_at ? Date.parse(attempt.started_at) : undefined;
    const ended = attempt.finished_at ? Date.parse(attempt.finished_at) : now;
    const waited = began ?? ended;
    if (waited - free >= 1)
      bars.push({ kind: "wait", from: free, to: waited, state: "waiting", attempt: attempt.number });
    if (began !== undefined)
      bars.push({ kind: "work", from: began, to: ended, state: attempt.state, attempt: attempt.number });
    free = Math.max(free, ended);
  }
  const open = job.state === "ready" || job.state === "backoff" || job.state === "held";
  if (open && now > free)
    bars.push({ kind: "wait", from: free, to: now, state: job.state, attempt: job.attempts.length + 1 });
  return bars;
}

function neededBy(graph: Graph | undefined, task: string): string[] {
  if (!graph) return [];
  const place = graph.tasks.findIndex((each) => each.id === task);
  // What is in `finally` comes after everything else.
  if (graph.tasks[place]?.finally) return graph.tasks.filter((each) => each.id !== task).map((each) => each.id);
  return graph.edges.filter((edge) => edge.to === place).flatMap((edge) => graph.tasks[edge.from]?.id ?? []);
}
