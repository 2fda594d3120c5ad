import { describe, expect, it } from "vitest";
import { civil, duration, moment, plural, relative } from "./format";

describe("lengths of time", () => {
  it.each([
    [0, "0 ms"],
    [840, "840 ms"],
    [1000, "1.0 s"],
    [12_345, "12 s"],
    [245_000, "4 m 05 s"],
    [7_800_000, "2 h 10 m"],
    [273_600_000, "3 d 4 h"],
    [-5, "0 ms"],
    [Number.NaN, "–"],
  ])("%d ms is %s", (ms, text) => expect(duration(ms)).toBe(text));
});

describe("moments", () => {
  it("are told by their distance", () => {
    const now = Date.parse("2026-11-18T05:00:00Z");
    expect(relative(now - 1000, now)).toBe("just now");
    expect(relative(now - 12_000, now)).toBe("12 s ago");
    expect(relative(now + 240_000, now)).toBe("in 4 m");
    expect(relative(now - 3 * 86_400_000, now)).toBe("3 d ago");
  });

  it("are shown in a zone", () => {
    expect(moment(Date.parse("2026-11-18T05:04:09Z"), "Europe/Oslo")).toBe("18 Nov 2026, 06:04:09");
  });
});

it("counts things", () => {
  expect(plural(1, "run")).toBe("1 run");
  expect(plural(1234, "run")).toBe("1,234 runs");
});

it("names the day of a moment in its own zone", () => {
  expect(civil("2026-11-19T03:00:00+01:00")).toBe("Thu 19 Nov 2026, 03:00");
  expect(civil("2026-01-01T23:59:07-05:00")).toBe("Thu 1 Jan 2026, 23:59:07");
});
