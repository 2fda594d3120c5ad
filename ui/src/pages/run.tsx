/** One run: its graph, its time, its jobs, what it was given and what it made, and everything that can be done. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useState } from "react";
import { type Job, job as jobQuery, jobs, type Run, runGraph, run as runQuery, tasks } from "../api/queries";
import { Graph } from "../graph/graph";
import { looksOf, looksOfCounts } from "../graph/looks";
import { Card, Copy, CountsBar, Progress, Skeleton, Values } from "../parts/bits";
import { Confirm, type Wish } from "../parts/confirm";
import { count } from "../parts/format";
import { Problem } from "../parts/problem";
import { State } from "../parts/state";
import { Tabs } from "../parts/tabs";
import { Ago, Moment, Took } from "../parts/time";
import type { RunTab } from "../routes";
import { Page } from "../shell/page";
import { Gantt } from "./gantt";
import { RUN_WORDS, runVerbs, runWish } from "./job-actions";
import { JobPanel } from "./job-panel";
import { JobsTable } from "./jobs-table";
import { Timeline } from "./timeline";

const route = getRouteApi("/shell/runs/$run");
const TABS: [RunTab, string][] = [
  ["graph", "Graph"],
  ["gantt", "Gantt"],
  ["jobs", "Jobs"],
  ["timeline", "Timeline"],
  ["details", "Details"],
];
/** So many jobs are read one by one. A run that has more is counted by the server, and the table has pages. */
const MOST_JOBS = 12_000;
/** And so many of such a run, to draw when they ran. */
const SOME_JOBS = 2000;
/** A task of more jobs than this is shown as a table. */
const SEVERAL = 60;

export function RunPage() {
  const { run: id } = route.useParams();
  const found = useQuery(runQuery(id));
  const crumbs = [
    { label: "Runs", to: "/runs" },
    ...(found.data ? [{ label: found.data.workflow, to: `/workflows/${found.data.workflow}` }] : []),
    { label: id },
  ];
  return (
    <Page crumbs={crumbs}>
      {found.isError ? (
        <Problem error={found.error} again={() => void found.refetch()} />
      ) : found.data ? (
        <Loaded run={found.data} />
      ) : (
        <div className="card">
          <Skeleton rows={10} />
        </div>
      )}
    </Page>
  );
}

function Loaded({ run }: { run: Run }) {
  const search = route.useSearch();
  const { tab = "graph", job: chosen } = search;
  const navigate = useNavigate();
  const isLarge = (run.job_counts.total ?? 0) > MOST_JOBS;
  const all = useAllJobs(run, isLarge ? SOME_JOBS : MOST_JOBS);
  const counted = useQuery({ ...tasks(run), enabled: isLarge }).data;
  const graph = useQuery(runGraph(run.id));
  const looks = useMemo(
    () => (isLarge ? looksOfCounts(counted ?? []) : looksOf(all.jobs)),
    [isLarge, counted, all.jobs],
  );
  const [wish, setWish] = useState<Wish | null>(null);
  const ask = useCallback((asked: Wish<Run>) => setWish(asked as Wish), []);
  const show = useCallback(
    (job: Pick<Job, "number"> | undefined) =>
      void navigate({
        to: "/runs/$run",
        params: { run: run.id },
        search: { ...search, job: job?.number },
        replace: true,
      }),
    [navigate, run.id, search],
  );
  const selectTask = useCallback(
    (task: string) => {
      const of = all.jobs.filter((job) => job.task === task);
      const counts = counted?.find((each) => each.task === task);
      const search = (counts?.job_counts.total ?? of.length) > SEVERAL ? { tab: "jobs" as const, task } : undefined;
      if (search) void navigate({ to: "/runs/$run", params: { run: run.id }, search });
      else if (counts) show({ number: counts.first_job });
      // Of several jobs the one to look at first is one that failed, or else one that runs.
      else show(of.find((job) => job.state === "failed") ?? of.find((job) => job.state === "running") ?? of[0]);
    },
    [all.jobs, counted, navigate, run.id, show],
  );
  const job = useJob(run.id, chosen, all.jobs, isLarge);
  return (
    <>
      <Head run={run} ask={ask} />
      <Tabs label="Views of the run" tabs={TABS} tab={tab} to="/runs/$run" params={{ run: run.id }} search={search} />
      {all.left > 0 && tab !== "graph" && tab !== "jobs" && (
        <p className="soft small" style={{ marginBottom: 10 }}>
          {count(all.jobs.length)} of {count(all.jobs.length + all.left)} jobs are shown here; the table of jobs has
          all.
        </p>
      )}
      <div className={job ? "split" : "split one"}>
        <div style={{ minWidth: 0 }}>
          {tab === "graph" &&
            (graph.data ? (
              <div className="card">
                <Graph graph={graph.data} looks={looks} selected={job?.task} select={selectTask} />
              </div>
            ) : graph.isError ? (
              <Problem error={graph.error} />
            ) : (
              <div className="card graph" aria-busy="true" />
            ))}
          {tab === "gantt" && <Gantt run={run} jobs={all.jobs} graph={graph.data} chosen={chosen} show={show} />}
          {tab === "jobs" && <JobsTable run={run} chosen={chosen} show={show} />}
          {tab === "timeline" && <Timeline run={run} jobs={all.jobs} show={show} />}
          {tab === "details" && <Details run={run} jobs={all.jobs} />}
        </div>
        {job && <JobPanel run={run} job={job} graph={graph.data} close={() => show(undefined)} ask={ask} />}
      </div>
      <Confirm wish={wish} close={() => setWish(null)} />
    </>
  );
}

/** The job that was chosen; one that was not read with the others is read alone. */
function useJob(run: string, chosen: number | undefined, read: Job[], isLarge: boolean): Job | undefined {
  const known = read.find((each) => each.number === chosen);
  const alone = useQuery({
    ...jobQuery(run, chosen ?? 0),
    enabled: chosen !== undefined && !known && isLarge,
  }).data;
  return known ?? (alone?.number === chosen ? alone : undefined);
}

/** The jobs of a run, page after page up to a limit. */
function useAllJobs(run: Run, most: number): { jobs: Job[]; left: number } {
  const found = useInfiniteQuery(jobs(run.id));
  const all = useMemo(() => found.data?.pages.flatMap((page) => page.items) ?? [], [found.data]);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = found;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && all.length < most) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, all.length, most]);
  return { jobs: all, left: hasNextPage ? Math.max(0, (run.job_counts.total ?? 0) - all.length) : 0 };
}

function Head({ run, ask }: { run: Run; ask: (wish: Wish<Run>) => void }) {
  const navigate = useNavigate();
  const opened = (made: Run) => void navigate({ to: "/runs/$run", params: { run: made.id } });
  return (
    <div className="page-head">
      <div className="titles">
        <div className="row wrap-row">
          <h1>
            <Link to="/workflows/$name" params={{ name: run.workflow }} style={{ color: "inherit" }}>
              {run.workflow}
            </Link>
          </h1>
          <State of={run.state} chip />
          <span className="soft wrap">{run.reason}</span>
        </div>
        <div className="facts">
          <span>
            <b>Took</b>
            <Took from={run.started_at} to={run.finished_at} />
          </span>
          <span>
            <b>Created</b>
            <Ago at={run.created_at} /> by {run.created_by}
          </span>
          <span>
            <b>Logical time</b>
            <Moment at={run.logical_time} />
          </span>
          {run.version && (
            <span>
              <b>Version</b>
              {run.version}
            </span>
          )}
          <Cause run={run} />
          <span className="row">
            <Progress counts={run.job_counts} />
            <span style={{ width: 140 }}>
              <CountsBar counts={run.job_counts} />
            </span>
          </span>
        </div>
      </div>
      <div className="row">
        {runVerbs(run).map((verb) => (
          <button
            key={verb}
            type="button"
            className={verb === "stop" ? "btn danger" : verb === "recover" ? "btn primary" : "btn"}
            onClick={() => ask(runWish(run, verb, opened))}
          >
            {RUN_WORDS[verb]}
          </button>
        ))}
      </div>
    </div>
  );
}

/** What made the run. */
function Cause({ run }: { run: Run }) {
  const { trigger } = run;
  const to = "run" in trigger ? trigger.run : undefined;
  const words: Record<typeof trigger.kind, string> = {
    call: "",
    parent: "part of",
    rerun: "again after",
    schedule: "schedule",
    after: "after",
    backfill: "backfill",
  };
  if (trigger.kind === "call") return null;
  return (
    <span>
      <b>Cause</b>
      {words[trigger.kind]}{" "}
      {to && (
        <Link to="/runs/$run" params={{ run: to }} className="mono">
          {to}
        </Link>
      )}
      {trigger.kind === "schedule" && (
        <Link to="/schedules/$schedule" params={{ schedule: trigger.schedule }}>
          {trigger.schedule}
        </Link>
      )}
      {trigger.kind === "backfill" && (
        <Link to="/backfills" className="mono">
          {trigger.backfill}
        </Link>
      )}
    </span>
  );
}

function Details({ run, jobs: of }: { run: Run; jobs: Job[] }) {
  const withOutputs = of.filter((job) => Object.keys(job.outputs ?? {}).length > 0).slice(0, 200);
  return (
    <div className="grid2">
      <Card title="Parameters">
        <Values of={run.params} />
      </Card>
      <Card title="Outputs">
        {withOutputs.length === 0 && <span className="muted">None yet</span>}
        {withOutputs.map((job) => (
          <div key={job.number}>
            <h3>
              {job.task}
              {typeof job.index === "number" && ` [${job.index}]`}
            </h3>
            <Values of={job.outputs ?? {}} />
          </div>
        ))}
      </Card>
      <Card title="Where it is kept" more={<Copy text={run.id} label="Copy id" />}>
        <Values
          of={{
            id: run.id,
            shard: run.shard,
            owner: run.owner ?? "nobody now",
            epoch: run.epoch,
            priority: run.priority,
          }}
        />
      </Card>
      <Card title="Labels">
        <Values of={run.labels ?? {}} />
      </Card>
    </div>
  );
}
