/** The one stream of live updates of a tab: kept open, read again when it breaks, put in place a few times a second. */
import { focusManager, type QueryClient } from "@tanstack/react-query";
import { Refused } from "../api/client";
import { apply, Changes } from "./apply";
import { readEvents } from "./sse";

export type LiveState = "connecting" | "live" | "paused" | "lost" | "refused";

/** Changes are collected for so long before anything is drawn again: ten times a second at most. */
const COLLECT_MS = 100;
/** The first try again after a break, and the longest wait between two. */
const AGAIN_MS = 250;
const AGAIN_MOST_MS = 5000;

type Listener = () => void;

export class LiveStream {
  private state: LiveState = "connecting";
  private readonly listeners = new Set<Listener>();
  private changes = new Changes();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private abort: AbortController | undefined;
  private lastId: string | undefined;
  private stopped = false;
  /** How often something was put in place; tests look at it. */
  applied = 0;
  /** How many events were told. */
  told = 0;

  constructor(
    private readonly queries: QueryClient,
    private readonly url = "/api/v1/events",
  ) {}

  start(): void {
    this.stopped = false;
    void this.run();
  }

  stop(): void {
    this.stopped = true;
    this.abort?.abort();
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** Holds everything as it is; going on reads everything again. */
  pause(): void {
    if (this.state === "paused") return;
    this.stop();
    this.changes = new Changes();
    // What is read again and again rests too, as in a window that nobody looks at.
    focusManager.setFocused(false);
    this.set("paused");
  }

  resume(): void {
    if (this.state !== "paused") return;
    this.set("connecting");
    focusManager.setFocused(undefined);
    void this.queries.invalidateQueries();
    this.start();
  }

  readonly subscribe = (listener: Listener): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly current = (): LiveState => this.state;

  private set(state: LiveState): void {
    if (this.state === state) return;
    this.state = state;
    for (const listener of this.listeners) listener();
  }

  private async run(): Promise<void> {
    let wait = AGAIN_MS;
    while (!this.stopped) {
      const abort = new AbortController();
      this.abort = abort;
      const opened = () => {
        // What happened while nobody listened was not told.
        if (this.state === "lost") void this.queries.invalidateQueries();
        this.set("live");
        wait = AGAIN_MS;
      };
      try {
        await readEvents(this.url, abort.signal, { lastId: this.lastId, opened }, (events) => {
          for (const event of events) {
            if (event.id) this.lastId = event.id;
            this.told += 1;
            this.changes.add(event.name, event.data);
          }
          this.timer ??= setTimeout(() => this.flush(), COLLECT_MS);
        });
      } catch (error) {
        if (this.stopped) return;
        if (error instanceof Refused && (error.status === 401 || error.status === 403)) {
          this.set("refused");
          return;
        }
      }
      if (this.stopped) return;
      this.set("lost");
      await new Promise((done) => setTimeout(done, wait));
      wait = Math.min(wait * 2, AGAIN_MOST_MS);
    }
  }

  private flush(): void {
    this.timer = undefined;
    const changes = this.changes;
    this.changes = new Changes();
    this.applied += 1;
    if (!changes.empty) apply(this.queries, changes);
  }
}
