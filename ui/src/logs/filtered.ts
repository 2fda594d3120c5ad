/** Only some lines of a log: the worker that has it looks through it, a page after the other. */
import type { LogLine, LogPage } from "../api/queries";
import { type Lines, type LogLevel, Told } from "./lines";

/** Enough to read, and little memory. */
export const MOST_LINES = 100_000;
const AT_ONCE = 1000;
const AGAIN_MS = 1000;

type Read = (query: { from_line: number; limit: number; level: LogLevel }) => Promise<LogPage>;

export class FilteredLog extends Told implements Lines {
  private readonly lines: LogLine[] = [];
  private closed = false;
  private held = false;

  constructor(
    private readonly level: LogLevel,
    private readonly read: Read,
  ) {
    super();
  }

  /** Looks through all of it, and through what is printed meanwhile. */
  async open(): Promise<void> {
    let from = 1;
    while (!this.closed && !this.state.complete && !this.state.cut) {
      try {
        const page = await this.read({ from_line: from, limit: AT_ONCE, level: this.level });
        if (this.closed) return;
        this.lines.push(...page.items);
        const moved = page.next_line > from;
        from = page.next_line;
        this.set({
          last: this.lines.length,
          complete: page.complete,
          notice: page.notice ?? null,
          looked: from - 1,
          cut: this.lines.length >= MOST_LINES && !page.complete,
          error: null,
        });
        if (page.complete || moved) continue;
      } catch (error) {
        if (this.closed) return;
        this.set({ error });
      }
      do await new Promise((done) => setTimeout(done, AGAIN_MS));
      while (this.held && !this.closed);
    }
  }

  close(): void {
    this.closed = true;
  }

  hold(on: boolean): void {
    this.held = on;
  }

  line(place: number): LogLine | undefined {
    return this.lines[place - 1];
  }

  placeOf(number: number): number {
    let [low, high] = [0, this.lines.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.lines[middle]?.number ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    return Math.min(low + 1, Math.max(1, this.lines.length));
  }

  want(): void {
    // All that was found is kept.
  }
}
