/** Puts what was told live into what was read: every list and page that shows a run, a job or a worker. */
import type { InfiniteData, QueryClient } from "@tanstack/react-query";
import type { Job, JobFilter, Page, Run, RunFilter, Worker } from "../api/queries";

/** What was told since it was last put in place; of each thing only how it is now. */
export class Changes {
  readonly runs = new Map<string, Run>();
  readonly jobs = new Map<string, Map<number, Job>>();
  readonly workers = new Map<string, Worker>();
  resync = false;
  count = 0;

  add(name: string, data: string): void {
    this.count += 1;
    if (name === "run") {
      const run = JSON.parse(data) as Run;
      this.runs.set(run.id, run);
    } else if (name === "job") {
      const { run, job } = JSON.parse(data) as { run: string; job: Job };
      const known = this.jobs.get(run);
      if (known) known.set(job.number, job);
      else this.jobs.set(run, new Map([[job.number, job]]));
    } else if (name === "worker") {
      const worker = JSON.parse(data) as Worker;
      this.workers.set(worker.id, worker);
    } else if (name === "resync") {
      this.resync = true;
    }
  }

  get empty(): boolean {
    return this.count === 0;
  }
}

export function apply(queries: QueryClient, changes: Changes): void {
  if (changes.resync) {
    void queries.invalidateQueries();
    return;
  }
  if (changes.runs.size > 0) applyRuns(queries, changes.runs);
  if (changes.jobs.size > 0) applyJobs(queries, changes.jobs);
  if (changes.workers.size > 0) applyWorkers(queries, changes.workers);
}

const OVER = new Set(["success", "failed", "stopped"]);

function applyRuns(queries: QueryClient, told: Map<string, Run>): void {
  for (const run of told.values()) {
    if (queries.getQueryData(["run", run.id])) queries.setQueryData(["run", run.id], run);
    // What was counted while it was open is not how it ended.
    if (isOver(run)) void queries.invalidateQueries({ queryKey: ["tasks", run.id] });
  }
  for (const [key, data] of queries.getQueriesData<InfiniteData<Page<Run>>>({ queryKey: ["runs"] })) {
    if (data) queries.setQueryData(key, withRuns(data, told, key[1] as RunFilter));
  }
  for (const [key, items] of queries.getQueriesData<Run[]>({ queryKey: ["some-runs"] })) {
    if (items) queries.setQueryData(key, mergedRuns(items, told, key[1] as RunFilter).slice(0, key[2] as number));
  }
}

/** A list of runs with what was told: changed where they stand, new ones first, those that fit no more left out. */
export function mergedRuns(items: Run[], told: Map<string, Run>, filter: RunFilter): Run[] {
  const known = new Set<string>();
  let changed = false;
  const kept: Run[] = [];
  for (const item of items) {
    known.add(item.id);
    const run = told.get(item.id);
    if (!run) kept.push(item);
    else {
      changed = true;
      if (fits(run, filter)) kept.push(run);
    }
  }
  const fresh = [...told.values()].filter((run) => !known.has(run.id) && fits(run, filter) && isNewer(run, items[0]));
  if (!changed && fresh.length === 0) return items;
  return [...fresh.sort((a, b) => (a.id < b.id ? 1 : -1)), ...kept];
}

/** Whether a run belongs before the first of a list; older ones are on a page that is not read. */
function isNewer(run: Run, first: Run | undefined): boolean {
  return first === undefined || run.created_at >= first.created_at;
}

function withRuns(data: InfiniteData<Page<Run>>, told: Map<string, Run>, filter: RunFilter): InfiniteData<Page<Run>> {
  const [first, ...rest] = data.pages;
  if (!first) return data;
  const elsewhere = new Set(rest.flatMap((page) => page.items.map((run) => run.id)));
  const ofFirst = new Map([...told].filter(([id]) => !elsewhere.has(id)));
  const pages = [
    { ...first, items: mergedRuns(first.items, ofFirst, filter) },
    ...rest.map((page) => ({
      ...page,
      items: page.items.flatMap((run) => {
        const now = told.get(run.id) ?? run;
        return fits(now, filter) ? [now] : [];
      }),
    })),
  ];
  return { ...data, pages };
}

export function fits(run: Run, filter: RunFilter): boolean {
  if (filter.state && run.state !== filter.state) return false;
  if (filter.workflow && run.workflow !== filter.workflow) return false;
  if (filter.id_prefix && !run.id.startsWith(filter.id_prefix.toUpperCase())) return false;
  return true;
}

function applyJobs(queries: QueryClient, told: Map<string, Map<number, Job>>): void {
  for (const [run, jobs] of told) {
    for (const job of jobs.values()) {
      if (queries.getQueryData(["job", run, job.number])) queries.setQueryData(["job", run, job.number], job);
    }
    for (const [key, data] of queries.getQueriesData<InfiniteData<Page<Job>>>({ queryKey: ["jobs", run] })) {
      if (data) queries.setQueryData(key, withJobs(data, jobs, key[2] as JobFilter));
    }
  }
}

/** Pages of jobs with what was told. Jobs are ordered by number, so each belongs to one page. */
export function withJobs(
  data: InfiniteData<Page<Job>>,
  told: Map<number, Job>,
  filter: JobFilter,
): InfiniteData<Page<Job>> {
  const wanted = (job: Job) =>
    (!filter.task || job.task === filter.task) &&
    (!filter.state || job.state === filter.state) &&
    job.number >= (filter.from ?? 0);
  const left = new Map(told);
  const pages = data.pages.map((page, place) => {
    let changed = false;
    const items = page.items.flatMap((job) => {
      const now = left.get(job.number);
      if (!now) return [job];
      left.delete(job.number);
      changed = true;
      return wanted(now) ? [now] : [];
    });
    const isLast = place === data.pages.length - 1;
    if (isLast && !page.next_cursor) {
      const fresh = [...left.values()].filter(wanted);
      if (fresh.length > 0) {
        changed = true;
        items.push(...fresh);
        items.sort((a, b) => a.number - b.number);
      }
    }
    return changed ? { ...page, items } : page;
  });
  return { ...data, pages };
}

function applyWorkers(queries: QueryClient, told: Map<string, Worker>): void {
  queries.setQueryData<Worker[]>(["workers"], (items) => {
    if (!items) return items;
    const left = new Map(told);
    const kept = items.map((worker) => {
      const now = left.get(worker.id);
      left.delete(worker.id);
      return now ?? worker;
    });
    return [...kept, ...left.values()].sort((a, b) => a.name.localeCompare(b.name));
  });
}

export function isOver(run: Run): boolean {
  return OVER.has(run.state);
}
