/** What the last runs of a workflow say together. Pure. */
import type { Run } from "../api/queries";

/** A change of less than this part is none. */
export const STEADY = 0.1;
/** Fewer runs than this show no trend. */
const LEAST = 6;

/** How long a run took, or has taken so far. */
export function tookOf(run: Run, now: number): number {
  if (!run.started_at) return 0;
  return (run.finished_at ? Date.parse(run.finished_at) : now) - Date.parse(run.started_at);
}

/** How many of those that ended by themselves succeeded: `95 %`. */
export function successRate(runs: Run[] | undefined): string | undefined {
  const over = (runs ?? []).filter(({ state }) => state === "success" || state === "failed");
  const good = over.filter(({ state }) => state === "success").length;
  return over.length ? `${Math.round((good / over.length) * 100)} %` : undefined;
}

/** The middle one of how long successful runs took. */
export function usualOf(runs: Run[] | undefined): number | undefined {
  const took = lengths(runs).sort((a, b) => a - b);
  return took[Math.floor(took.length / 2)];
}

/** How much longer the newer half of them usually takes than the older half: 0.2 for a fifth. */
export function trend(runs: Run[] | undefined): number | undefined {
  const good = (runs ?? []).filter(({ state }) => state === "success");
  if (good.length < LEAST) return undefined;
  const half = Math.floor(good.length / 2);
  const [newer, older] = [usualOf(good.slice(0, half)), usualOf(good.slice(half))];
  return newer === undefined || !older ? undefined : newer / older - 1;
}

function lengths(runs: Run[] | undefined): number[] {
  return (runs ?? [])
    .filter((run) => run.state === "success" && run.started_at && run.finished_at)
    .map((run) => tookOf(run, 0));
}
