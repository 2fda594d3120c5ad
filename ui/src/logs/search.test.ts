import { expect, it } from "vitest";
import type { LogPage } from "../api/queries";
import { FilteredLog } from "./filtered";
import { find, type Hunt } from "./search";

/** A log of so many lines in which some have the text, read as a worker reads it: a bounded look at a time. */
function log(total: number, hits: number[], bound = 100_000): Hunt["read"] {
  return async ({ from_line, limit }) => {
    const within = hits.filter((line) => line >= from_line && line < from_line + bound);
    const items = within.slice(0, limit).map((number) => ({ number, text: "x", stream: "stdout", time: "" }));
    const more = within[limit];
    const next_line = Math.min(more ?? from_line + bound, total + 1);
    return { items, next_line, complete: next_line > total } as LogPage;
  };
}

const hunt = (read: Hunt["read"], from: number, step: 1 | -1, last = 1_000_000) =>
  find({ read, text: "x", from, step, last, tell: () => {}, signal: new AbortController().signal });

it("finds the next and the one before, and goes round", async () => {
  const read = log(1_000_000, [5, 777_777, 999_999]);
  expect(await hunt(read, 1, 1)).toBe(5);
  expect(await hunt(read, 6, 1)).toBe(777_777);
  expect(await hunt(read, 1_000_001, 1)).toBe(5);
  expect(await hunt(read, 777_776, -1)).toBe(5);
  expect(await hunt(read, 1_000_000, -1)).toBe(999_999);
  expect(await hunt(read, 4, -1)).toBe(999_999);
  expect(await hunt(read, 0, -1)).toBe(999_999);
});

it("finds the last of thousands before a line", async () => {
  const every = Array.from({ length: 5000 }, (_, place) => place + 1);
  expect(await hunt(log(5000, every), 4321, -1, 5000)).toBe(4321);
});

it("says when there is none", async () => {
  expect(await hunt(log(1_000_000, []), 500_000, 1)).toBeNull();
  expect(await hunt(log(1_000_000, []), 500_000, -1)).toBeNull();
});

it("keeps only lines of a level, and finds their places", async () => {
  const read = log(250_000, [3, 120_000, 249_000]);
  const lines = new FilteredLog("warn", (query) => read({ ...query, contains: "" }));
  await lines.open();
  expect(lines.current()).toMatchObject({ last: 3, complete: true, looked: 250_000 });
  expect([1, 2, 3].map((place) => lines.line(place)?.number)).toEqual([3, 120_000, 249_000]);
  expect([1, 3, 4, 120_000, 249_001].map((number) => lines.placeOf(number))).toEqual([1, 1, 2, 2, 3]);
});
