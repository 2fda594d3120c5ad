/** What is read from the server, each under the one key by which live updates find it. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { answer, client, type Shapes } from "./client";

export type Run = Shapes["Run"];
export type RunState = Shapes["RunState"];
export type Job = Shapes["Job"];
export type JobState = Shapes["JobState"];
export type Attempt = Shapes["Attempt"];
export type JobCounts = Shapes["JobCounts"];
export type TaskCounts = Shapes["TaskCounts"];
export type Worker = Shapes["Worker"];
export type Workflow = Shapes["Workflow"];
export type WorkflowSummary = Shapes["WorkflowSummary"];
export type Schedule = Shapes["Schedule"];
export type Firing = Shapes["Firing"];
export type Graph = Shapes["Graph"];
export type GraphTask = Shapes["GraphTask"];
export type Why = Shapes["Why"];
export type Diagnostic = Shapes["Diagnostic"];
export type LogLine = Shapes["LogLine"];
export type LogPage = Shapes["LogPage"];
export type LogLevel = "debug" | "info" | "warn" | "error";
export type Backfill = Shapes["Backfill"];
export type BackfillPlan = Shapes["BackfillPlan"];
export type CreateBackfill = Pick<Shapes["CreateBackfill"], "workflow" | "from" | "to"> &
  Partial<Shapes["CreateBackfill"]>;
export type PlannedRun = Shapes["PlannedRun"];
export type PlannedStage = Shapes["PlannedStage"];
export type Cluster = Shapes["Cluster"];
export type Pool = Shapes["Pool"];
export type Token = Shapes["Token"];
export type Role = Shapes["Role"];
export type Priority = Shapes["Priority"];

/** Which runs a list shows. */
export interface RunFilter {
  state?: RunState;
  workflow?: string;
  since?: string;
  id_prefix?: string;
}

export interface Page<T> {
  items: T[];
  next_cursor?: string | null;
}

/** What live updates do not tell is read again so often. */
const SLOWLY = 10_000;
const SLOWEST = 30_000;

const lists = <T>(
  key: readonly unknown[],
  read: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>,
) =>
  infiniteQueryOptions({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: Page<T>) => page.next_cursor ?? undefined,
  });

export const runs = (filter: RunFilter, limit = 100) =>
  lists<Run>(["runs", filter, limit], (cursor, signal) =>
    answer(client.GET("/api/v1/runs", { params: { query: { ...filter, limit, cursor } }, signal })),
  );

/** One page of runs that is not continued. */
export const someRuns = (filter: RunFilter, limit: number) =>
  queryOptions({
    queryKey: ["some-runs", filter, limit],
    queryFn: async ({ signal }) =>
      (await answer(client.GET("/api/v1/runs", { params: { query: { ...filter, limit } }, signal }))).items,
  });

export const run = (id: string) =>
  queryOptions({
    queryKey: ["run", id],
    queryFn: ({ signal }) => answer(client.GET("/api/v1/runs/{run}", { params: { path: { run: id } }, signal })),
  });

export const runGraph = (id: string) =>
  queryOptions({
    queryKey: ["run-graph", id],
    queryFn: ({ signal }) => answer(client.GET("/api/v1/runs/{run}/graph", { params: { path: { run: id } }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** How many jobs of each task are where, also of a task that has a million; read again while the run is open. */
export const tasks = (run: Pick<Run, "id" | "finished_at">, query: { task?: string; parts?: number } = {}) =>
  queryOptions({
    queryKey: ["tasks", run.id, query],
    queryFn: async ({ signal }) =>
      (await answer(client.GET("/api/v1/runs/{run}/tasks", { params: { path: { run: run.id }, query }, signal })))
        .items,
    staleTime: run.finished_at ? SLOWEST : 1000,
    refetchInterval: run.finished_at ? (false as const) : 2000,
  });

export interface JobFilter {
  task?: string;
  state?: JobState;
  /** The number of the first. */
  from?: number;
}

export const jobs = (run: string, filter: JobFilter = {}) =>
  lists<Job>(["jobs", run, filter], (cursor, signal) =>
    answer(
      client.GET("/api/v1/runs/{run}/jobs", {
        params: { path: { run }, query: { ...filter, limit: 1000, cursor } },
        signal,
      }),
    ),
  );

export const job = (run: string, number: number) =>
  queryOptions({
    queryKey: ["job", run, number],
    queryFn: ({ signal }) =>
      answer(client.GET("/api/v1/runs/{run}/jobs/{job}", { params: { path: { run, job: number } }, signal })),
  });

export const why = (run: string, number: number) =>
  queryOptions({
    queryKey: ["why", run, number],
    queryFn: ({ signal }) =>
      answer(client.GET("/api/v1/runs/{run}/jobs/{job}/why", { params: { path: { run, job: number } }, signal })),
    refetchInterval: 2000,
  });

export const logPage = (
  run: string,
  job: number,
  attempt: number,
  query: { from_line?: number; tail?: number; limit?: number; contains?: string; level?: LogLevel },
  signal?: AbortSignal,
): Promise<LogPage> =>
  // It is text only when it is followed.
  answer(
    client.GET("/api/v1/runs/{run}/jobs/{job}/attempts/{attempt}/log", {
      params: { path: { run, job, attempt }, query },
      signal,
    }),
  ) as Promise<LogPage>;

export const workflows = queryOptions({
  queryKey: ["workflows"],
  queryFn: async ({ signal }) => {
    const items: WorkflowSummary[] = [];
    let cursor: string | undefined;
    do {
      const page = await answer(
        client.GET("/api/v1/workflows", { params: { query: { limit: 1000, cursor } }, signal }),
      );
      items.push(...page.items);
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
    return items;
  },
  refetchInterval: SLOWLY,
});

export const workflow = (name: string) =>
  queryOptions({
    queryKey: ["workflow", name],
    queryFn: ({ signal }) =>
      answer(client.GET("/api/v1/workflows/{workflow}", { params: { path: { workflow: name } }, signal })),
    refetchInterval: SLOWLY,
  });

export const workflowGraph = (name: string, version: number) =>
  queryOptions({
    queryKey: ["workflow-graph", name, version],
    queryFn: ({ signal }) =>
      answer(
        client.GET("/api/v1/workflows/{workflow}/graph", {
          params: { path: { workflow: name }, query: { version } },
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const versions = (name: string) =>
  queryOptions({
    queryKey: ["versions", name],
    queryFn: async ({ signal }) =>
      (
        await answer(
          client.GET("/api/v1/workflows/{workflow}/versions", {
            params: { path: { workflow: name }, query: { limit: 200 } },
            signal,
          }),
        )
      ).items,
  });

export const version = (name: string, number: number) =>
  queryOptions({
    queryKey: ["version", name, number],
    queryFn: ({ signal }) =>
      answer(
        client.GET("/api/v1/workflows/{workflow}/versions/{version}", {
          params: { path: { workflow: name, version: number } },
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const dependencies = (name: string) =>
  queryOptions({
    queryKey: ["dependencies", name],
    queryFn: ({ signal }) =>
      answer(client.GET("/api/v1/workflows/{workflow}/dependencies", { params: { path: { workflow: name } }, signal })),
  });

export const schedules = (workflow?: string) =>
  queryOptions({
    queryKey: ["schedules", workflow ?? null],
    queryFn: async ({ signal }) =>
      (await answer(client.GET("/api/v1/schedules", { params: { query: { workflow, limit: 1000 } }, signal }))).items,
    refetchInterval: SLOWLY,
  });

export const schedule = (id: string) =>
  queryOptions({
    queryKey: ["schedule", id],
    queryFn: ({ signal }) =>
      answer(client.GET("/api/v1/schedules/{schedule}", { params: { path: { schedule: id } }, signal })),
    refetchInterval: SLOWLY,
  });

export const firings = (id: string) =>
  lists<Firing>(["firings", id], (cursor, signal) =>
    answer(
      client.GET("/api/v1/schedules/{schedule}/firings", {
        params: { path: { schedule: id }, query: { limit: 100, cursor } },
        signal,
      }),
    ),
  );

export const scheduleNext = (id: string) =>
  queryOptions({
    queryKey: ["schedule-next", id],
    queryFn: ({ signal }) =>
      answer(
        client.GET("/api/v1/schedules/{schedule}/next", {
          params: { path: { schedule: id }, query: { count: 10 } },
          signal,
        }),
      ),
    refetchInterval: SLOWEST,
  });

export const backfills = () =>
  lists<Backfill>(["backfills"], (cursor, signal) =>
    answer(client.GET("/api/v1/backfills", { params: { query: { limit: 50, cursor } }, signal })),
  );

/** What a backfill would do; it does nothing. */
export const backfillPlan = (wanted: CreateBackfill) =>
  queryOptions({
    queryKey: ["backfill-plan", wanted],
    queryFn: async ({ signal }) =>
      (await answer(
        client.POST("/api/v1/backfills", {
          body: { ...wanted, dry_run: true } as Shapes["CreateBackfill"],
          signal,
        }),
      )) as BackfillPlan,
  });

export const cluster = queryOptions({
  queryKey: ["cluster"],
  queryFn: ({ signal }) => answer(client.GET("/api/v1/cluster", { signal })),
  refetchInterval: 3000,
});

export const workers = queryOptions({
  queryKey: ["workers"],
  queryFn: async ({ signal }) =>
    (await answer(client.GET("/api/v1/workers", { params: { query: { limit: 1000 } }, signal }))).items,
  refetchInterval: SLOWLY,
});

export const worker = (id: string) =>
  queryOptions({
    queryKey: ["worker", id],
    queryFn: ({ signal }) =>
      answer(client.GET("/api/v1/workers/{worker}", { params: { path: { worker: id } }, signal })),
    refetchInterval: 3000,
  });

export const pools = queryOptions({
  queryKey: ["pools"],
  queryFn: async ({ signal }) =>
    (await answer(client.GET("/api/v1/pools", { params: { query: { limit: 1000 } }, signal }))).items,
  refetchInterval: 3000,
});

export const tokens = queryOptions({
  queryKey: ["tokens"],
  queryFn: async ({ signal }) =>
    (await answer(client.GET("/api/v1/tokens", { params: { query: { limit: 1000 } }, signal }))).items,
});
