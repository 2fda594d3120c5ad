/** The lines of one attempt, of which only those near what is shown are kept. */
import { type LogLine, type LogPage, logPage } from "../api/queries";
import { readEvents } from "../live/sse";
import { type Lines, type LogLevel, Told } from "./lines";

export const PAGE = 500;
/** So many pages are kept: enough to scroll about, and little memory for a log of a million lines. */
const PAGES_KEPT = 40;
const AGAIN_MS = 1000;

export class LogStore extends Told implements Lines {
  private readonly pages = new Map<number, Map<number, LogLine>>();
  private readonly asked = new Set<number>();
  private readonly stop = new AbortController();
  private following: AbortController | undefined;
  private held = false;

  constructor(
    private readonly run: string,
    private readonly job: number,
    private readonly attempt: number,
  ) {
    super();
  }

  /** Finds the end, then follows what is printed until there is nothing more. */
  async open(): Promise<void> {
    try {
      // Two pages' worth, so that the beginning of the last page is among them.
      const page = await this.read({ tail: 2 * PAGE, limit: 2 * PAGE });
      this.take(page);
      this.set({ last: page.next_line - 1, complete: page.complete, notice: page.notice ?? null, error: null });
    } catch (error) {
      if (!this.stop.signal.aborted) this.set({ error });
      return;
    }
    while (!this.state.complete && !this.stop.signal.aborted) {
      if (!this.held) await this.follow().catch(() => {});
      if (!this.state.complete) await new Promise((done) => setTimeout(done, AGAIN_MS));
    }
  }

  close(): void {
    this.stop.abort();
    this.following?.abort();
  }

  hold(on: boolean): void {
    this.held = on;
    if (on) this.following?.abort();
  }

  placeOf(number: number): number {
    return number;
  }

  line(number: number): LogLine | undefined {
    return this.pages.get(pageOf(number))?.get(number);
  }

  /** Reads what of these lines is not there. */
  want(first: number, last: number): void {
    if (this.state.last === 0) return;
    for (
      let page = pageOf(Math.max(1, first));
      page <= pageOf(Math.max(1, Math.min(last, this.state.last)));
      page += 1
    ) {
      const known = this.pages.get(page);
      if (known) {
        // What was used last is forgotten last.
        this.pages.delete(page);
        this.pages.set(page, known);
      } else if (!this.asked.has(page)) {
        this.asked.add(page);
        void this.read({ from_line: page * PAGE + 1, limit: PAGE })
          .then((found) => {
            this.take(found, page);
            this.set({});
          })
          .catch(() => {})
          .finally(() => this.asked.delete(page));
      }
    }
  }

  read(query: {
    from_line?: number;
    tail?: number;
    limit?: number;
    contains?: string;
    level?: LogLevel;
  }): Promise<LogPage> {
    return logPage(this.run, this.job, this.attempt, query, this.stop.signal);
  }

  private async follow(): Promise<void> {
    const path = `/api/v1/runs/${this.run}/jobs/${this.job}/attempts/${this.attempt}/log`;
    const url = `${path}?from_line=${this.state.last + 1}&follow=true`;
    this.following = new AbortController();
    await readEvents(url, this.following.signal, {}, (events) => {
      let { last, complete, notice } = this.state;
      for (const event of events) {
        if (event.name !== "log") continue;
        const page = JSON.parse(event.data) as LogPage;
        this.take(page);
        last = Math.max(last, page.next_line - 1);
        complete = page.complete;
        notice = page.notice ?? null;
      }
      this.set({ last, complete, notice });
    });
  }

  /** Keeps what was read; who calls tells it. */
  private take(page: LogPage, whole?: number): void {
    if (whole !== undefined && !this.pages.has(whole)) this.pages.set(whole, new Map());
    for (const line of page.items) {
      const at = pageOf(line.number);
      // Part of a page is only kept if it is read on at its beginning or was read before: a hole would stay one.
      const kept = this.pages.get(at);
      if (kept) kept.set(line.number, line);
      else if (line.number % PAGE === 1) this.pages.set(at, new Map([[line.number, line]]));
    }
    for (const oldest of this.pages.keys()) {
      if (this.pages.size <= PAGES_KEPT) break;
      this.pages.delete(oldest);
    }
  }
}

function pageOf(line: number): number {
  return Math.floor((line - 1) / PAGE);
}
