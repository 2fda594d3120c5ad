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
