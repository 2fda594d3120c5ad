import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { keysAt, pathOf, type Schema, valuesAt } from "./schema";

const schema = JSON.parse(
  readFileSync(new URL("../../../docs/reference/workflow-v1.schema.json", import.meta.url), "utf8"),
) as Schema;
const labels = (words: { label: string }[]) => words.map((word) => word.label);

const text = `name: x
schedule:
  - cron: "0 3 * * *"
    over
tasks:
  a:
    run: echo
    retries:
      ma
    trigger: `.split("\n");

it("knows where a line is", () => {
  expect(pathOf(text, 3)).toEqual({ above: ["schedule"], key: undefined });
  expect(pathOf(text, 8)).toEqual({ above: ["tasks", "a", "retries"], key: undefined });
  expect(pathOf(text, 9)).toEqual({ above: ["tasks", "a"], key: "trigger" });
});

it("offers keys and words of the published schema", () => {
  expect(labels(keysAt(schema, []))).toContain("on_task_failure");
  expect(labels(keysAt(schema, ["tasks", "a"]))).toContain("depends_on");
  expect(labels(keysAt(schema, ["tasks", "a", "retries"]))).toContain("backoff");
  expect(labels(keysAt(schema, ["schedule"]))).toContain("overlap");
  expect(labels(valuesAt(schema, ["tasks", "a", "trigger"]))).toContain("none_failed");
  expect(keysAt(schema, ["nowhere"])).toEqual([]);
});
