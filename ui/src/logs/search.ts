/** Finds text in a log, line by line from some place on, round to where it began. */
import { plain } from "./ansi";
import type { LogStore } from "./store";

const AT_ONCE = 1000;

export interface Hunt {
  store: LogStore;
  text: string;
  /** Where to begin, and which way. */
  from: number;
  step: 1 | -1;
  last: number;
  /** Told where it is, so that somebody sees it going on. */
  tell: (line: number) => void;
  signal: AbortSignal;
}

/** The number of the next line with that text; `null` if there is none. */
export async function find({ store, text, from, step, last, tell, signal }: Hunt): Promise<number | null> {
  const wanted = text.toLowerCase();
  let left = last;
  let start = wrapped(from, last);
  while (left > 0 && !signal.aborted) {
    const length = step > 0 ? Math.min(AT_ONCE, last - start + 1, left) : Math.min(AT_ONCE, start, left);
    const first = step > 0 ? start : start - length + 1;
    const page = await store.read({ from_line: first, limit: length });
    const lines = page.items.filter((line) => line.number < first + length);
    const hits = lines.filter((line) => plain(line.text).toLowerCase().includes(wanted));
    const hit = step > 0 ? hits[0] : hits.at(-1);
    if (hit) return hit.number;
    tell(start);
    left -= length;
    start = wrapped(step > 0 ? first + length : first - 1, last);
  }
  return null;
}

function wrapped(line: number, last: number): number {
  return line > last ? 1 : line < 1 ? last : line;
}
