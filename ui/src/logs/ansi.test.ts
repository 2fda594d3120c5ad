import { expect, it } from "vitest";
import { plain, segments } from "./ansi";

it("reads colours and styles", () => {
  expect(segments("a \x1b[1;31mred\x1b[0m b")).toEqual([
    { text: "a ", styles: [] },
    { text: "red", color: "var(--ansi-1)", styles: ["bold"] },
    { text: " b", styles: [] },
  ]);
  expect(segments("\x1b[38;5;196mx\x1b[48;2;1;2;3my")).toMatchObject([
    { text: "x", color: "rgb(255 0 0)" },
    { text: "y", background: "rgb(1 2 3)" },
  ]);
  expect(segments("\x1b[96mx\x1b[39my").map((each) => each.color)).toEqual(["var(--ansi-14)", undefined]);
});

it("obeys nothing else, and keeps text as text", () => {
  expect(plain("\x1b[2J\x1b]0;title\x07<b>hi</b>\x1b[K\x07")).toBe("<b>hi</b>");
  expect(segments("\x1b[31")).toEqual([{ text: "[31", styles: [] }]);
});
