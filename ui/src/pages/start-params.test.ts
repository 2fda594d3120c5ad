import { expect, it } from "vitest";
import { paramsOf, valuesOf } from "./start-params";

const definition = {
  params: {
    day: { type: "date", default: "${{ run.logical_time | date }}", description: "Which day." },
    dry_run: false,
    size: { type: "integer", choices: [1, 2] },
    tags: ["a"],
  },
};

it("reads parameters in both forms", () => {
  const specs = paramsOf(definition);
  expect(specs.map((spec) => [spec.name, spec.type, spec.default === undefined])).toEqual([
    ["day", "date", false],
    ["dry_run", "boolean", false],
    ["size", "integer", true],
    ["tags", "list", false],
  ]);
  expect(paramsOf({})).toEqual([]);
});

it("sends only what was changed", () => {
  const specs = paramsOf(definition);
  const typed = { day: "${{ run.logical_time | date }}", dry_run: "true", size: "2", tags: '["a","b"]' };
  expect(valuesOf(specs, typed)).toEqual({ dry_run: "true", size: "2", tags: ["a", "b"] });
});
