/** What a view of a log needs, whether of all lines or of some. */
import type { LogLine } from "../api/queries";

export type { LogLevel } from "../api/queries";

export interface LogState {
  /** How many lines there are to show; of a whole log that is the number of the last one. */
  last: number;
  complete: boolean;
  notice: string | null;
  error: unknown;
  /** Changes with everything that is kept. */
  version: number;
  /** How far a log of which only some lines are wanted was looked through. */
  looked?: number;
  /** There are more than are kept. */
  cut?: boolean;
}

export interface Lines {
  subscribe: (listener: () => void) => () => void;
  current: () => LogState;
  /** What is at a place, counted from 1, if it was read. */
  line: (place: number) => LogLine | undefined;
  /** The place of a line, or of the first one after it. */
  placeOf: (number: number) => number;
  /** Reads what of these places is not there. */
  want: (first: number, last: number) => void;
  /** Stops to follow, or goes on. */
  hold: (on: boolean) => void;
}

/** Keeps a state and tells who listens. */
export class Told {
  private readonly listeners = new Set<() => void>();
  protected state: LogState = { last: 0, complete: false, notice: null, error: null, version: 0 };

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  readonly current = (): LogState => this.state;

  protected set(change: Partial<LogState>): void {
    this.state = { ...this.state, ...change, version: this.state.version + 1 };
    for (const listener of this.listeners) listener();
  }
}
