/** What a workflow's pages say is what the server has: how it went, what changed, when it fires, what needs it. */
import type { Page } from "playwright-core";
import { beforeAll, expect, inject, it } from "vitest";
import { apply, send, start, until, withPage } from "./world";

const server = inject("server");
let page: Page;

/** Succeeds, unless it is told not to; half of its work is done again and again. */
const STEADY = `name: steady
description: One that has a history.
schedule: {cron: "15 4 * * *", timezone: Europe/Oslo, id: early}
params: {end: 0}
tasks:
  work: {run: 'exit \${{ params.end }}'}
  done: {depends_on: [work], run: 'true'}
`;

let runs: string[] = [];

withPage(server, (opened) => {
  page = opened;
});
beforeAll(async () => {
  await apply(server, STEADY);
  runs = [];
  for (const end of [0, 0, 0, 1, 0, 0, 0]) {
    const run = await start(server, { workflow: "steady", params: { end } });
    await until(server, run, [end ? "failed" : "success"]);
    runs.push(run);
  }
  await apply(server, STEADY.replace("'true'", "echo done").replace("history", "past"));
  await apply(server, "name: needs-steady\ntasks: {first: {type: workflow, with: {workflow: steady}}}");
  await apply(server, "name: needs-that\ntasks: {first: {type: workflow, with: {workflow: needs-steady}}}");
});

it("lists its last runs, how often it succeeds, how long it takes and when it is due", async () => {
  await page.goto("/workflows");
  await page.getByLabel("Filter by name, words or label").fill("a past");
  const row = page.getByRole("row", { name: /^steady/ });
  const dots = row.locator(".dots a");
  await expect.poll(() => dots.count()).toBe(7);
  const states = await dots.evaluateAll((all) => all.map((dot) => dot.getAttribute("aria-label")));
  // Oldest first, each a link to its run.
  expect(states.map((label) => /^Run (\w+): (\w+)/.exec(label ?? "")?.slice(1, 3))).toEqual(
    runs.map((run, place) => [run, place === 3 ? "Failed" : "Success"]),
  );
  const cells = await row.locator("td").allInnerTexts();
  expect(cells[2]).toBe("86 %");
  expect(cells[3]).toMatch(/^\d.* m?s\n(steady|\d+ % (longer|shorter))$/);
  expect(cells[5]).toMatch(/^in \d+ [hm]$/);
  expect(cells[6]).toBe("2");
  expect(await page.getByRole("row").count()).toBe(2);
  await dots.nth(3).click();
  await page.waitForURL(`**/runs/${runs[3]}`);
});

it("shows its runs task by task, and goes to one", async () => {
  await page.goto("/workflows/steady?tab=runs");
  const grid = page.getByRole("region", { name: "Runs by tasks" });
  await grid.getByRole("link", { name: `work in ${runs[3]}: Failed` }).waitFor();
  await grid.getByRole("link", { name: `done in ${runs[3]}: Skipped` }).waitFor();
  expect(await grid.getByRole("link", { name: /^work in .*: Success$/ }).count()).toBe(6);
  expect(
    await grid.locator("tr").evaluateAll((rows) => rows.map((row) => row.querySelector("th")?.textContent)),
  ).toEqual(["Run", "work", "done"]);
  await grid.getByRole("link", { name: `work in ${runs[3]}: Failed` }).click();
  await page.waitForURL(`**/runs/${runs[3]}`);
});

it("shows a task of its graph, its YAML, and two versions side by side", async () => {
  await page.goto("/workflows/steady");
  await page.locator("[data-task=done]").click();
  await page.getByRole("complementary", { name: "Task done" }).getByText("echo done").waitFor();
  const views = page.getByRole("navigation", { name: "Views of the workflow" });
  await views.getByRole("link", { name: "YAML" }).click();
  await page.locator(".cm-line", { hasText: "exit ${{ params.end }}" }).waitFor();
  await views.getByRole("link", { name: "Versions" }).click();
  await page.getByRole("link", { name: "What changed" }).click();
  await page.waitForURL(/from=1&to=2/);
  const side = (label: string) => page.getByRole("textbox", { name: label });
  await side("Version 1").locator(".cm-changedLine", { hasText: "history" }).waitFor();
  await side("Version 2").locator(".cm-changedLine", { hasText: "past" }).waitFor();
  expect(await side("Version 1").textContent()).not.toContain("echo done");
  expect(await side("Version 2").textContent()).toContain("echo done");
});

it("says when it fires next, and what needs it", async () => {
  await page.goto("/workflows/steady?tab=schedules");
  const row = page.getByRole("row", { name: /early/ });
  await row.getByText("at 04:15").waitFor();
  const { items } = (await send(server, "GET", "/api/v1/schedules/steady%40early/next?count=10")) as {
    items: { local: string }[];
  };
  await row.getByRole("link", { name: "early" }).click();
  const next = page.getByRole("region", { name: "Next moments" }).getByRole("listitem");
  await expect.poll(() => next.count()).toBe(items.length);
  for (const text of await next.allInnerTexts()) expect(text).toMatch(/^\w{3} \d+ \w+ \d{4}, 04:15/);

  await page.goto("/workflows/steady?tab=dependencies");
  const needs = page.getByRole("region", { name: "What needs it" });
  expect(await needs.getByRole("row", { name: /^needs-steady/ }).innerText()).toMatch(/sub-workflow\s+directly/);
  expect(await needs.getByRole("row", { name: /^needs-that/ }).innerText()).toMatch(/sub-workflow\s+2 steps/);
  await needs.getByRole("link", { name: "needs-that" }).click();
  await page.waitForURL(/\/workflows\/needs-that$/);
  await page.getByRole("link", { name: "Dependencies" }).click();
  await page
    .getByRole("region", { name: "What it needs" })
    .getByRole("link", { name: "steady", exact: true })
    .waitFor();
});
