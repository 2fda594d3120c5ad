/** When each job waited and ran, attempt by attempt, also while the run goes on. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef } from "react";
import type { Graph, Job, Run } from "../api/queries";
import { Empty } from "../parts/bits";
import { useNow } from "../parts/clock";
import { duration } from "../parts/format";
import { look } from "../parts/state";
import { type Bar, barsOf, endsOf } from "./gantt-bars";

const ROW = 28;
const TICKS = 5;

interface Props {
  run: Run;
  jobs: Job[];
  graph: Graph | undefined;
  chosen: number | undefined;
  show: (job: Job) => void;
}

export function Gantt({ run, jobs, graph, chosen, show }: Props) {
  const clock = useNow();
  const now = run.finished_at ? Date.parse(run.finished_at) : clock;
  const start = Date.parse(run.started_at ?? run.created_at);
  const length = Math.max(1, now - start);
  const began = useMemo(() => jobs.filter((job) => job.attempts.length > 0 || job.state !== "waiting"), [jobs]);
  const ends = useMemo(() => endsOf(jobs), [jobs]);
  const body = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: began.length,
    getScrollElement: () => body.current,
    estimateSize: () => ROW,
    overscan: 10,
  });
  if (began.length === 0) return <Empty title="Nothing has begun yet" />;
  const percent = (at: number) => `${Math.max(0, Math.min(100, ((at - start) / length) * 100))}%`;
  return (
    <section className="card gantt" aria-label="Gantt chart">
      <div className="gantt-row" aria-hidden="true">
        <span className="muted small">Job</span>
        <div className="gantt-axis">
          {Array.from({ length: TICKS }, (_, tick) => (
            <span key={tick} style={{ left: `${(tick / (TICKS - 1)) * 100}%` }}>
              {tick === 0 ? "0" : duration((length * tick) / (TICKS - 1))}
            </span>
          ))}
        </div>
      </div>
      <div ref={body} style={{ maxHeight: "58vh", overflowY: "auto" }}>
        <ul style={{ height: rows.getTotalSize(), position: "relative" }}>
          {rows.getVirtualItems().map((place) => {
            const job = began[place.index] as Job;
            const bars = barsOf(job, graph, ends, start, now);
            return (
              <li
                key={job.number}
                className="gantt-row"
                style={{
                  position: "absolute",
                  left: 0,
                  right: 0,
                  transform: `translateY(${place.start}px)`,
                  background: job.number === chosen ? "var(--accent-soft)" : undefined,
                }}
              >
                <button
                  type="button"
                  className="btn quiet small ellipsis"
                  style={{ justifyContent: "flex-start", width: "100%" }}
                  aria-label={`${job.task}${typeof job.index === "number" ? ` ${job.index}` : ""}: ${bars.map(inWords).join(", ") || look(job.state).word}`}
                  onClick={() => show(job)}
                >
                  {job.task}
                  {typeof job.index === "number" && ` [${job.index}]`}
                </button>
                <div className="gantt-track" aria-hidden="true">
                  {bars.map((bar, at) => (
                    <span
                      key={at}
                      className={bar.kind === "wait" ? "gantt-bar wait" : `gantt-bar fill-${look(bar.state).tone}`}
                      style={{ left: percent(bar.from), width: `calc(${percent(bar.to)} - ${percent(bar.from)})` }}
                      title={inWords(bar)}
                    />
                  ))}
                </div>
              </li>
            );
          })}
        </ul>
      </div>
    </section>
  );
}

function inWords(bar: Bar): string {
  const took = duration(bar.to - bar.from);
  return bar.kind === "wait"
    ? `waited ${took}`
    : `attempt ${bar.attempt} ${look(bar.state).word.toLowerCase()} after ${took}`;
}
