/** Where a long log is scrolled to. A browser makes nothing taller than some millions of pixels. Pure. */
export const LINE = 20;
export const TALLEST = 6_000_000;

export interface Scale {
  /** Pixels of the whole. */
  height: number;
  /** The most that can be scrolled, in lines. */
  lines: number;
  /** The most that can be scrolled, in pixels. */
  pixels: number;
}

export function scaleOf(total: number, box: number): Scale {
  const height = Math.min(TALLEST, total * LINE);
  return { height, lines: Math.max(0, total - box / LINE), pixels: Math.max(0, height - box) };
}

/** How many lines are above, with a fraction. */
export function lineAt(scale: Scale, top: number): number {
  return scale.pixels === 0 ? 0 : (Math.min(top, scale.pixels) / scale.pixels) * scale.lines;
}

/** How far to scroll so that so many lines are above. */
export function topOf(scale: Scale, line: number): number {
  return scale.lines === 0 ? 0 : (Math.max(0, Math.min(line, scale.lines)) / scale.lines) * scale.pixels;
}

/**
 * Where lines of unknown height go: the place of the log at which a part of the way was scrolled stands at the same part
 * of the box. So its beginning and its end are both reached, and nothing is measured.
 */
export interface Anchor {
  /** The line that stands there, counted from 1. */
  line: number;
  /** How much of it is above. */
  above: number;
  /** How far down in the box that is, from 0 to 1. */
  down: number;
}

export function anchorOf(total: number, scale: Scale, top: number): Anchor {
  const down = scale.pixels === 0 ? 0 : Math.max(0, Math.min(1, top / scale.pixels));
  const place = down * total;
  const line = Math.max(1, Math.min(total, Math.floor(place) + 1));
  return { line, above: place - (line - 1), down };
}

/** How far to scroll so that a line is the anchor. */
export function topOfAnchor(total: number, scale: Scale, line: number): number {
  return total === 0 ? 0 : ((line - 0.5) / total) * scale.pixels;
}
