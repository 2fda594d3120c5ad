import { expect, it } from "vitest";
import { taskFields, withDependency, withField } from "./change";

const text = `# Kept.
name: x
tasks:
  a: {run: echo a}
  b: # also kept
    run: |
      echo b
    depends_on: [a]
  c: {run: echo c}
`;

it("adds a dependency and keeps the rest", () => {
  const now = withDependency(text, "c", "b") ?? "";
  expect(now).toContain("depends_on: [a, c]");
  expect(now).toContain("# Kept.");
  expect(now).toContain("# also kept");
  expect(now).toContain("run: |\n      echo b");
  expect(withDependency(text, "a", "c")).toContain("depends_on: [a]");
  expect(withDependency(text, "a", "b")).toBeNull();
  expect(withDependency(text, "a", "nowhere")).toBeNull();
});

it("shows and changes fields of a task", () => {
  expect(taskFields(text, "b")).toMatchObject({ run: "echo b\n", depends_on: "a", retries: "" });
  const now = withField(text, "c", "retries", "3");
  expect(now).toContain("retries: 3");
  expect(withField(now, "c", "retries", "")).not.toContain("retries");
  expect(taskFields(text, "none")).toBeNull();
});
