/** Every page and where it is. Pages that are not always needed come when they are. */
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from "@tanstack/react-router";
import { type JobState, job, type LogLevel, type RunFilter, type RunState, run, runGraph } from "./api/queries";
import { Home } from "./pages/home";
import { NotFound } from "./pages/not-found";
import { Runs } from "./pages/runs";
import { Login } from "./shell/login";
import { Shell } from "./shell/shell";

/** What a page needs is asked for while its code is still on its way. */
interface Context {
  queries: QueryClient;
}

const root = createRootRouteWithContext<Context>()({ component: Outlet, notFoundComponent: NotFound });
const shell = createRoute({ getParentRoute: () => root, id: "shell", component: Shell });
const at = { getParentRoute: () => shell };

const text = (value: unknown) => (typeof value === "string" && value ? value : undefined);
const number = (value: unknown) => (typeof value === "number" && Number.isInteger(value) ? value : undefined);

const login = createRoute({ getParentRoute: () => root, path: "/login", component: Login });
const home = createRoute({ ...at, path: "/", component: Home });

export const runsRoute = createRoute({
  ...at,
  path: "/runs",
  component: Runs,
  validateSearch: (search): RunFilter => ({
    state: text(search.state) as RunState | undefined,
    workflow: text(search.workflow),
    since: text(search.since),
    id_prefix: search.id_prefix === undefined ? undefined : text(String(search.id_prefix)),
  }),
});

export type RunTab = "graph" | "gantt" | "jobs" | "timeline" | "details";
export interface RunSearch {
  tab?: RunTab;
  job?: number;
  task?: string;
  state?: JobState;
  /** The first job of the table. */
  from?: number;
}
export const runRoute = createRoute({
  ...at,
  path: "/runs/$run",
  component: lazyRouteComponent(() => import("./pages/run"), "RunPage"),
  loader: ({ context: { queries }, params }) => {
    void queries.prefetchQuery(run(params.run));
    void queries.prefetchQuery(runGraph(params.run));
  },
  validateSearch: (search): RunSearch => ({
    tab: text(search.tab) as RunTab | undefined,
    job: number(search.job),
    task: text(search.task),
    state: text(search.state) as JobState | undefined,
    from: number(search.from),
  }),
});

export const logRoute = createRoute({
  ...at,
  path: "/runs/$run/jobs/$job/log",
  component: lazyRouteComponent(() => import("./pages/log"), "LogRoute"),
  loader: ({ context: { queries }, params }) => {
    void queries.prefetchQuery(job(params.run, Number(params.job)));
    void queries.prefetchQuery(run(params.run));
  },
  validateSearch: (search): { attempt?: number; line?: number; level?: LogLevel } => ({
    attempt: number(search.attempt),
    line: number(search.line),
    level: text(search.level) as LogLevel | undefined,
  }),
});

const workflows = createRoute({
  ...at,
  path: "/workflows",
  component: lazyRouteComponent(() => import("./pages/workflows"), "Workflows"),
});

export type WorkflowTab = "graph" | "runs" | "calendar" | "yaml" | "versions" | "schedules" | "dependencies";
export const workflowRoute = createRoute({
  ...at,
  path: "/workflows/$name",
  component: lazyRouteComponent(() => import("./pages/workflow"), "WorkflowPage"),
  validateSearch: (search): { tab?: WorkflowTab; from?: number; to?: number } => ({
    tab: text(search.tab) as WorkflowTab | undefined,
    from: number(search.from),
    to: number(search.to),
  }),
});

export const startRoute = createRoute({
  ...at,
  path: "/workflows/$name/start",
  component: lazyRouteComponent(() => import("./pages/start"), "StartPage"),
});

export const editorRoute = createRoute({
  ...at,
  path: "/editor",
  component: lazyRouteComponent(() => import("./pages/editor"), "EditorPage"),
  validateSearch: (search): { workflow?: string; crontab?: boolean } => ({
    workflow: text(search.workflow),
    crontab: search.crontab === true ? true : undefined,
  }),
});

const schedules = createRoute({
  ...at,
  path: "/schedules",
  component: lazyRouteComponent(() => import("./pages/schedules"), "Schedules"),
});
export const scheduleRoute = createRoute({
  ...at,
  path: "/schedules/$schedule",
  component: lazyRouteComponent(() => import("./pages/schedule"), "SchedulePage"),
});

export interface BackfillSearch {
  workflow?: string;
  /** Days: `2026-11-18`. */
  from?: string;
  to?: string;
  /** Also what has a run already. */
  again?: boolean;
  dependants?: boolean;
}
const day = (value: unknown) => (typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) ? value : undefined);
export const backfillsRoute = createRoute({
  ...at,
  path: "/backfills",
  component: lazyRouteComponent(() => import("./pages/backfills"), "Backfills"),
  validateSearch: (search): BackfillSearch => ({
    workflow: text(search.workflow),
    from: day(search.from),
    to: day(search.to),
    again: search.again === true ? true : undefined,
    dependants: search.dependants === true ? true : undefined,
  }),
});

export type ClusterTab = "masters" | "workers" | "queues" | "pools" | "tokens";
export const clusterRoute = createRoute({
  ...at,
  path: "/cluster",
  component: lazyRouteComponent(() => import("./pages/cluster"), "ClusterPage"),
  validateSearch: (search): { tab?: ClusterTab; worker?: string } => ({
    tab: text(search.tab) as ClusterTab | undefined,
    worker: text(search.worker),
  }),
});

const tree = root.addChildren([
  login,
  shell.addChildren([
    home,
    runsRoute,
    runRoute,
    logRoute,
    workflows,
    workflowRoute,
    startRoute,
    editorRoute,
    schedules,
    scheduleRoute,
    backfillsRoute,
    clusterRoute,
  ]),
]);

export const router = createRouter({
  routeTree: tree,
  context: { queries: undefined as unknown as QueryClient },
  defaultPreload: "intent",
  scrollRestoration: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
