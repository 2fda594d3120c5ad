import { useNow } from "./clock";
import { duration, moment, relative } from "./format";

/** A moment by its distance, with the exact one, here and in UTC, for who asks. */
export function Ago({ at }: { at: string | null | undefined }) {
  const now = useNow();
  if (!at) return <span className="muted">–</span>;
  const time = Date.parse(at);
  return (
    <time dateTime={at} title={exact(time)} className="num nowrap">
      {relative(time, now)}
    </time>
  );
}

/** A moment as it is in the reader's zone. */
export function Moment({ at }: { at: string | null | undefined }) {
  if (!at) return <span className="muted">–</span>;
  const time = Date.parse(at);
  return (
    <time dateTime={at} title={exact(time)} className="num nowrap">
      {moment(time)}
    </time>
  );
}

/** How long something took, or has taken so far. */
export function Took({ from, to }: { from: string | null | undefined; to: string | null | undefined }) {
  return from ? to ? <Between from={from} to={to} /> : <SoFar from={from} /> : <span className="muted">–</span>;
}

function Between({ from, to }: { from: string; to: string }) {
  return <span className="num nowrap">{duration(Date.parse(to) - Date.parse(from))}</span>;
}

function SoFar({ from }: { from: string }) {
  const now = useNow();
  return <span className="num nowrap">{duration(now - Date.parse(from))}</span>;
}

function exact(time: number): string {
  return `${moment(time)} here\n${moment(time, "UTC")} UTC`;
}
