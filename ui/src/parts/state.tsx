/** States, each by icon, word and colour: never by colour alone. */
import type { Attempt, JobState, RunState } from "../api/queries";
import {
  CheckIcon,
  CrossIcon,
  DotsIcon,
  HandIcon,
  PauseIcon,
  RetryIcon,
  RingIcon,
  ScheduleIcon,
  SkipIcon,
  StopIcon,
  WarnIcon,
} from "./icons";

export type Tone = "ok" | "bad" | "run" | "warn" | "idle" | "skip";
type Known =
  | RunState
  | JobState
  | Attempt["state"]
  | "online"
  | "draining"
  | "overloaded"
  | "alive"
  | "silent"
  | "ran"
  | "done"
  | "missing";

interface Look {
  tone: Tone;
  Icon: typeof CheckIcon;
  word: string;
  moves?: boolean;
}

const LOOKS: Record<Known, Look> = {
  pending: { tone: "idle", Icon: ScheduleIcon, word: "Pending" },
  running: { tone: "run", Icon: RingIcon, word: "Running", moves: true },
  pausing: { tone: "warn", Icon: PauseIcon, word: "Pausing" },
  paused: { tone: "warn", Icon: PauseIcon, word: "Paused" },
  stopping: { tone: "warn", Icon: StopIcon, word: "Stopping" },
  success: { tone: "ok", Icon: CheckIcon, word: "Success" },
  failed: { tone: "bad", Icon: CrossIcon, word: "Failed" },
  stopped: { tone: "idle", Icon: StopIcon, word: "Stopped" },
  waiting: { tone: "idle", Icon: DotsIcon, word: "Waiting" },
  ready: { tone: "run", Icon: ScheduleIcon, word: "Ready" },
  backoff: { tone: "warn", Icon: RetryIcon, word: "Backoff" },
  held: { tone: "warn", Icon: HandIcon, word: "Held" },
  skipped: { tone: "skip", Icon: SkipIcon, word: "Skipped" },
  assigned: { tone: "run", Icon: ScheduleIcon, word: "Assigned" },
  killed: { tone: "bad", Icon: StopIcon, word: "Killed" },
  lost: { tone: "bad", Icon: WarnIcon, word: "Lost" },
  timed_out: { tone: "bad", Icon: ScheduleIcon, word: "Timed out" },
  online: { tone: "ok", Icon: CheckIcon, word: "Online" },
  draining: { tone: "warn", Icon: PauseIcon, word: "Draining" },
  overloaded: { tone: "warn", Icon: WarnIcon, word: "Overloaded" },
  alive: { tone: "ok", Icon: CheckIcon, word: "Alive" },
  silent: { tone: "bad", Icon: WarnIcon, word: "Silent" },
  done: { tone: "ok", Icon: CheckIcon, word: "Done" },
  missing: { tone: "warn", Icon: WarnIcon, word: "Missing" },
  ran: { tone: "ok", Icon: CheckIcon, word: "Ran" },
};

export function look(state: string): Look {
  return LOOKS[state as Known] ?? { tone: "idle", Icon: DotsIcon, word: state };
}

export function State({ of, chip = false, title }: { of: string; chip?: boolean; title?: string }) {
  const { tone, Icon, word, moves } = look(of);
  const text = tone === "skip" ? "idle" : tone;
  return (
    <span className={`state tone-${text}${chip ? " chip" : ""}`} title={title} data-state={of}>
      <Icon size={14} className={moves ? "spin" : undefined} />
      {word}
    </span>
  );
}
