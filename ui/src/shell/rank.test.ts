import { expect, it } from "vitest";
import { rank } from "./rank";

const found = (text: string) => rank(["nightly-sales", "sales", "load-staging", "Start sales"], text, (label) => label);

it("finds letters in their order, beginnings first", () => {
  expect(found("sales")[0]).toBe("sales");
  expect(found("ls")[0]).toBe("load-staging");
  expect(found("ns")[0]).toBe("nightly-sales");
  expect(found("xyz")).toEqual([]);
  expect(found("")).toHaveLength(4);
});
