/** One job beside the graph: how it is and why, its attempts, what it made, what can be done. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Attempt, type Graph, type Job, type Run, why } from "../api/queries";
import { Values } from "../parts/bits";
import type { Wish } from "../parts/confirm";
import { CrossIcon } from "../parts/icons";
import { sentence } from "../parts/problem";
import { State } from "../parts/state";
import { Ago, Took } from "../parts/time";
import { JOB_WORDS, jobVerbs, jobWish } from "./job-actions";

const WAITS = new Set(["waiting", "ready", "backoff", "held"]);

interface Props {
  run: Run;
  job: Job;
  graph: Graph | undefined;
  close: () => void;
  ask: (wish: Wish<Run>) => void;
}

export function JobPanel({ run, job, graph, close, ask }: Props) {
  const after = graph ? tasksAfter(graph, job.task) : 0;
  const newest = job.attempts.at(-1);
  return (
    <aside className="card side" aria-label={`Job ${job.task}`}>
      <div className="card-head">
        <h2 className="ellipsis">
          {job.task}
          {typeof job.index === "number" && <span className="muted"> [{job.index}]</span>}
        </h2>
        <div className="row">
          <State of={job.state} chip />
          <button type="button" className="btn icon small quiet" aria-label="Close" onClick={close}>
            <CrossIcon size={14} />
          </button>
        </div>
      </div>
      <section className="first">
        {/* Of one that waits, the scheduler's own answer is below. */}
        {job.reason && !WAITS.has(job.state) && <p className="wrap">{sentence(job.reason)}</p>}
        <div className="row wrap-row actions">
          {newest && (
            <Link
              to="/runs/$run/jobs/$job/log"
              params={{ run: run.id, job: String(job.number) }}
              search={{ attempt: newest.number }}
              className="btn"
            >
              Log
            </Link>
          )}
          {job.child && (
            <Link to="/runs/$run" params={{ run: job.child }} className="btn">
              Open its run
            </Link>
          )}
          {jobVerbs(run, job).map((verb) => (
            <button
              key={verb}
              type="button"
              className={verb === "approve" || verb === "retry" ? "btn primary" : "btn"}
              onClick={() => ask(jobWish(run, job, verb, after))}
            >
              {JOB_WORDS[verb]}
            </button>
          ))}
        </div>
      </section>
      {WAITS.has(job.state) && <WhyWaits run={run} job={job} />}
      <section aria-label="Attempts">
        <h3>Attempts</h3>
        {job.attempts.length === 0 ? (
          <span className="muted">None yet</span>
        ) : (
          <ul className="stack tight">
            {job.attempts.toReversed().map((attempt) => (
              <AttemptLine key={attempt.number} run={run} job={job} attempt={attempt} />
            ))}
          </ul>
        )}
      </section>
      <section aria-label="Outputs">
        <h3>Outputs</h3>
        <Values of={job.outputs ?? {}} />
      </section>
    </aside>
  );
}

/** The scheduler's own answer to why it does not run. */
function WhyWaits({ run, job }: { run: Run; job: Job }) {
  const found = useQuery(why(run.id, job.number));
  return (
    <section aria-label="Why it waits">
      <h3>Why it waits</h3>
      {found.data?.reasons.map((reason) => (
        <div key={reason.code + reason.text} className="reason">
          <div className="wrap">{sentence(reason.text)}</div>
          {reason.remedy && <div className="soft small wrap">{sentence(reason.remedy)}</div>}
          <a className="small" href={`/docs/errors/${reason.code}`} target="_blank" rel="noreferrer">
            {reason.code}
          </a>
        </div>
      )) ?? <span className="muted">Asking the scheduler…</span>}
    </section>
  );
}

function AttemptLine({ run, job, attempt }: { run: Run; job: Job; attempt: Attempt }) {
  const end = attempt.signal
    ? `signal ${attempt.signal}`
    : typeof attempt.exit_code === "number"
      ? `exit ${attempt.exit_code}`
      : null;
  return (
    <li>
      <div className="row between">
        <Link
          to="/runs/$run/jobs/$job/log"
          params={{ run: run.id, job: String(job.number) }}
          search={{ attempt: attempt.number }}
        >
          Attempt {attempt.number}
        </Link>
        <State of={attempt.state} />
      </div>
      <div className="row between small soft">
        <span className="ellipsis">
          {attempt.worker ?? "no worker"}
          {end && ` · ${end}`}
        </span>
        <span>
          <Took from={attempt.started_at} to={attempt.finished_at} /> ·{" "}
          <Ago at={attempt.started_at ?? attempt.assigned_at} />
        </span>
      </div>
      {attempt.state !== "success" && attempt.reason && (
        <div className="small wrap soft">{sentence(attempt.reason)}</div>
      )}
    </li>
  );
}

/** How many tasks come after one, directly or not. */
export function tasksAfter(graph: Graph, task: string): number {
  const next = new Map<number, number[]>();
  for (const { from, to } of graph.edges) next.set(from, [...(next.get(from) ?? []), to]);
  const start = graph.tasks.findIndex((each) => each.id === task);
  const seen = new Set<number>();
  const left = [start];
  for (let place = left.pop(); place !== undefined; place = left.pop()) {
    for (const to of next.get(place) ?? []) {
      if (!seen.has(to)) {
        seen.add(to);
        left.push(to);
      }
    }
  }
  return seen.size;
}
