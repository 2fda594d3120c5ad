/** Moments, lengths of time and numbers as people read them. Pure; the zone is the browser's unless told. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `840 ms`, `12.3 s`, `4 m 05 s`, `2 h 10 m`, `3 d 4 h`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return "–";
  const length = Math.max(0, ms);
  if (length < SECOND) return `${Math.round(length)} ms`;
  if (length < 10 * SECOND) return `${(length / SECOND).toFixed(1)} s`;
  if (length < MINUTE) return `${Math.floor(length / SECOND)} s`;
  if (length < HOUR) return `${Math.floor(length / MINUTE)} m ${two(Math.floor((length % MINUTE) / SECOND))} s`;
  if (length < DAY) return `${Math.floor(length / HOUR)} h ${two(Math.floor((length % HOUR) / MINUTE))} m`;
  return `${Math.floor(length / DAY)} d ${Math.floor((length % DAY) / HOUR)} h`;
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}

/** `just now`, `12 s ago`, `in 4 m`, `3 d ago`. */
export function relative(at: number, now: number): string {
  const distance = Math.abs(now - at);
  const ahead = at > now;
  if (distance < 2 * SECOND) return ahead ? "now" : "just now";
  const [unit, word] =
    distance < MINUTE
      ? [SECOND, "s"]
      : distance < HOUR
        ? [MINUTE, "m"]
        : distance < DAY
          ? [HOUR, "h"]
          : ([DAY, "d"] as const);
  const count = `${Math.floor(distance / unit)} ${word}`;
  return ahead ? `in ${count}` : `${count} ago`;
}

/** A moment in a zone: `18 Nov 2026, 05:04:09`. */
export function moment(at: number, zone?: string): string {
  return new Intl.DateTimeFormat("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZone: zone,
  }).format(at);
}

/**
 * A moment as the server says it in a zone, `2026-11-19T03:00:00+01:00`, by the day people know it as:
 * `Thu 19 Nov 2026, 03:00`; with seconds only where it has some. The browser need not know the zone.
 */
export function civil(local: string): string {
  const at = Date.parse(`${local.slice(0, 19)}Z`);
  const words = new Intl.DateTimeFormat("en-GB", {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: at % MINUTE === 0 ? undefined : "2-digit",
    timeZone: "UTC",
  });
  return words.format(at).replace(",", "");
}

/** Only the time of day, with what a log needs: `05:04:09.123`. */
export function clockTime(at: number): string {
  const date = new Date(at);
  const millis = String(date.getMilliseconds()).padStart(3, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${millis}`;
}

/** `1,234`. */
export function count(number: number): string {
  return number.toLocaleString("en-US");
}

/** `1 run`, `3 runs`. */
export function plural(number: number, word: string): string {
  return `${count(number)} ${word}${number === 1 ? "" : "s"}`;
}

/** A value of a parameter or an output on one line. */
export function oneLine(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
