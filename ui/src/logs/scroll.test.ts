import { expect, it } from "vitest";
import { anchorOf, LINE, lineAt, scaleOf, TALLEST, topOf, topOfAnchor } from "./scroll";

it("is plain for short logs", () => {
  const scale = scaleOf(1000, 400);
  expect(scale.height).toBe(1000 * LINE);
  expect(lineAt(scale, 200)).toBeCloseTo(10);
  expect(topOf(scale, 10)).toBeCloseTo(200);
});

it("reaches every line of a million without being too tall", () => {
  const scale = scaleOf(1_000_000, 400);
  expect(scale.height).toBe(TALLEST);
  expect(lineAt(scale, scale.pixels)).toBeCloseTo(1_000_000 - 20);
  for (const line of [0, 1, 123_456, 999_980]) expect(lineAt(scale, topOf(scale, line))).toBeCloseTo(line, 3);
});

it("does not scroll what fits", () => {
  expect(lineAt(scaleOf(3, 400), 0)).toBe(0);
  expect(topOf(scaleOf(3, 400), 2)).toBe(0);
});

it("shows the first of wrapped lines at the top, the last at the bottom, and finds each", () => {
  const scale = scaleOf(1_000_000, 400);
  expect(anchorOf(1_000_000, scale, 0)).toEqual({ line: 1, above: 0, down: 0 });
  expect(anchorOf(1_000_000, scale, scale.pixels)).toEqual({ line: 1_000_000, above: 1, down: 1 });
  for (const line of [1, 2, 123_456, 1_000_000])
    expect(anchorOf(1_000_000, scale, topOfAnchor(1_000_000, scale, line)).line).toBe(line);
});
