/** Small pieces that many pages have. */
import { type ReactNode, useState } from "react";
import type { JobCounts } from "../api/queries";
import { count } from "./format";
import { look } from "./state";

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** A part of a page with a title, and what stands beside that. */
export function Card({ title, more, children }: { title: string; more?: ReactNode; children: ReactNode }) {
  return (
    <section className="card" aria-label={title}>
      <div className="card-head">
        <h2>{title}</h2>
        {more}
      </div>
      <div className="card-body stack">{children}</div>
    </section>
  );
}

/** Lines in the place of what is being read, so that nothing jumps when it comes. */
export function Skeleton({ rows = 6 }: { rows?: number }) {
  return (
    <div className="card-body stack" aria-busy="true" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, place) => (
        <span key={place} className="skeleton" style={{ width: `${45 + ((place * 37) % 50)}%` }} />
      ))}
    </div>
  );
}

export function Kbd({ children }: { children: ReactNode }) {
  return <kbd className="kbd">{children}</kbd>;
}

const ORDER = ["success", "running", "ready", "backoff", "held", "failed", "stopped", "skipped", "waiting"] as const;

/** How many jobs are where, as a bar and in words. */
export function CountsBar({ counts }: { counts: JobCounts }) {
  const parts = ORDER.map((state) => ({ state, number: counts[state] ?? 0 })).filter((part) => part.number > 0);
  const words = parts.map((part) => `${count(part.number)} ${look(part.state).word.toLowerCase()}`).join(", ");
  return (
    <span className="bar" title={words} role="img" aria-label={`${count(counts.total ?? 0)} jobs: ${words}`}>
      {parts.map(({ state, number }) => (
        <span key={state} className={`fill-${look(state).tone}`} style={{ flexGrow: number }} />
      ))}
    </span>
  );
}

/** `3/8`, with how many failed. */
export function Progress({ counts }: { counts: JobCounts }) {
  const ended = (counts.success ?? 0) + (counts.failed ?? 0) + (counts.skipped ?? 0) + (counts.stopped ?? 0);
  return (
    <span className="num nowrap">
      {count(ended)}/{count(counts.total ?? 0)}
      {(counts.failed ?? 0) > 0 && <span className="tone-bad"> · {count(counts.failed ?? 0)} failed</span>}
    </span>
  );
}

export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = () => {
    void navigator.clipboard?.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    });
  };
  return (
    <button type="button" className="btn small" onClick={copy}>
      {copied ? "Copied" : label}
    </button>
  );
}

/** Names and values, such as parameters and outputs; whatever they hold is shown as text. */
export function Values({ of }: { of: Record<string, unknown> }) {
  const entries = Object.entries(of);
  if (entries.length === 0) return <span className="muted">None</span>;
  return (
    <dl className="kv">
      {entries.map(([name, value]) => (
        <div key={name} style={{ display: "contents" }}>
          <dt className="mono">{name}</dt>
          <dd className="mono wrap">{typeof value === "string" ? value : JSON.stringify(value, null, 2)}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Switch({ on, set, label }: { on: boolean; set: (on: boolean) => void; label: string }) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={on}
      aria-label={label}
      className="switch"
      onClick={() => set(!on)}
    >
      <span />
    </button>
  );
}
