/** Finds text in a log from some line on, round to where it began. The worker that has the log looks through it. */
import type { LogPage } from "../api/queries";
import type { LogLevel } from "./lines";

/** So many lines are looked through at once when the last one before a line is wanted. */
export const WINDOW = 100_000;

export interface Hunt {
  read: (query: { from_line: number; limit: number; contains: string; level?: LogLevel }) => Promise<LogPage>;
  text: string;
  level?: LogLevel;
  /** Where to begin, and which way. */
  from: number;
  step: 1 | -1;
  last: number;
  /** Told where it is, so that somebody sees it going on. */
  tell: (line: number) => void;
  signal: AbortSignal;
}

/** The number of the next line with that text; `null` if there is none. */
export async function find(hunt: Hunt): Promise<number | null> {
  const from = hunt.from > hunt.last ? 1 : hunt.from < 1 ? hunt.last : hunt.from;
  const parts: [number, number][] =
    hunt.step > 0
      ? [
          [from, hunt.last],
          [1, from - 1],
        ]
      : [
          [1, from],
          [from + 1, hunt.last],
        ];
  for (const [first, last] of parts) {
    const found = await (hunt.step > 0 ? firstIn(hunt, first, last) : lastIn(hunt, first, last));
    if (found !== null) return found;
  }
  return null;
}

async function firstIn(hunt: Hunt, first: number, last: number): Promise<number | null> {
  for (let at = first; at <= last && !hunt.signal.aborted; ) {
    hunt.tell(at);
    const page = await hunt.read({ from_line: at, limit: 1, contains: hunt.text, level: hunt.level });
    const hit = page.items[0]?.number;
    if (hit !== undefined) return hit <= last ? hit : null;
    if (page.next_line <= at) return null;
    at = page.next_line;
  }
  return null;
}

async function lastIn(hunt: Hunt, first: number, last: number): Promise<number | null> {
  for (let end = last; end >= first && !hunt.signal.aborted; end -= WINDOW) {
    hunt.tell(end);
    let hit: number | null = null;
    for (let at = Math.max(first, end - WINDOW + 1); at <= end && !hunt.signal.aborted; ) {
      const page = await hunt.read({ from_line: at, limit: 1000, contains: hunt.text, level: hunt.level });
      hit = page.items.findLast((line) => line.number <= end)?.number ?? hit;
      if (page.next_line <= at) break;
      at = page.next_line;
    }
    if (hit !== null) return hit;
  }
  return null;
}
