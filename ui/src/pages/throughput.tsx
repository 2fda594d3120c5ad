/** How many runs ended in each stretch of the last day, by how they ended. */
import { useMemo } from "react";
import type { Run } from "../api/queries";
import { useNow } from "../parts/clock";
import { count, plural } from "../parts/format";

const BARS = 48;
const DAY = 86_400_000;
const MINUTE = 60_000;

interface Bar {
  success: number;
  failed: number;
  stopped: number;
}

export function bars(runs: Run[], now: number, span: number): Bar[] {
  const all: Bar[] = Array.from({ length: BARS }, () => ({ success: 0, failed: 0, stopped: 0 }));
  for (const run of runs) {
    if (!run.finished_at) continue;
    const ago = now - Date.parse(run.finished_at);
    const bar = all[BARS - 1 - Math.floor((ago / span) * BARS)];
    if (bar && (run.state === "success" || run.state === "failed" || run.state === "stopped")) bar[run.state] += 1;
  }
  return all;
}

export function Throughput({ runs }: { runs: Run[] | undefined }) {
  // A new picture once a minute, not each second.
  const now = Math.floor(useNow() / MINUTE) * MINUTE + MINUTE;
  // When the runs that were read do not reach back a day, the span is as long as they do.
  const oldest = runs && runs.length >= 1000 ? Date.parse(runs.at(-1)?.created_at ?? "") : 0;
  const span = Math.min(DAY, Math.max(10 * MINUTE, now - oldest));
  const shown = useMemo(() => bars(runs ?? [], now, span), [runs, now, span]);
  const most = Math.max(1, ...shown.map((bar) => bar.success + bar.failed + bar.stopped));
  const total = shown.reduce((sum, bar) => sum + bar.success + bar.failed + bar.stopped, 0);
  const failed = shown.reduce((sum, bar) => sum + bar.failed, 0);
  const hours = span / 3_600_000;
  const words = hours >= 1 ? `${Math.round(hours)} h` : `${Math.round(span / MINUTE)} m`;
  return (
    <section className="card" aria-label="Throughput">
      <div className="card-head">
        <h2>Ended in the last {words}</h2>
        <span className="soft small num">
          {plural(total, "run")}
          {failed > 0 && <span className="tone-bad"> · {count(failed)} failed</span>}
        </span>
      </div>
      <div className="card-body">
        <div className="spark" role="img" aria-label={`${plural(total, "run")} ended, ${count(failed)} of them failed`}>
          {shown.map((bar, place) => (
            <div key={place} title={`${bar.success} success, ${bar.failed} failed, ${bar.stopped} stopped`}>
              <span className="fill-ok" style={{ height: `${(bar.success / most) * 100}%` }} />
              <span className="fill-idle" style={{ height: `${(bar.stopped / most) * 100}%` }} />
              <span className="fill-bad" style={{ height: `${(bar.failed / most) * 100}%` }} />
            </div>
          ))}
        </div>
        <div className="row between muted small" style={{ marginTop: 6 }}>
          <span>{words} ago</span>
          <span>now</span>
        </div>
      </div>
    </section>
  );
}
