/** What is shown follows what happens, also when the server dies and comes back. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { Standalone } from "./server";
import { jobOf, open, pageOf, send, start, until } from "./world";

const server = inject("server");
let browser: Browser;

beforeAll(async () => {
  browser = await open();
});
afterAll(() => browser?.close());

const STEPS = `name: steps
tasks:
  one: {run: 'for i in 1 2 3 4 5 6 7 8; do echo "line $i"; sleep 0.25; done'}
  two: {depends_on: [one], run: sleep 0.3}
`;

it("colours the graph and follows the log to the end, without a reload", async () => {
  const { page, context, complaints } = await pageOf(browser, server);
  const run = await start(server, { definition: STEPS });
  await page.goto(`/runs/${run}`);
  await page.locator("[data-task=one][data-state=running]").waitFor();
  const log = await context.newPage();
  await log.goto(`/runs/${run}/jobs/${(await jobOf(server, run, "one")).number}/log`);
  await log.locator("[data-line]", { hasText: "line 8" }).waitFor();
  await page.locator("[data-task=two][data-state=success]").waitFor();
  await page.locator(".page-head [data-state=success]").waitFor();
  await log.getByRole("button", { name: "End", exact: true }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

it("shows a new run at the top of the list at once", async () => {
  const { page, context } = await pageOf(browser, server);
  await page.goto("/runs");
  await page.locator("[data-live=live]").waitFor();
  const run = await start(server, { definition: "name: at-once\ntasks: {a: {type: noop}}" });
  await page.locator(`.vrow:has-text("${run}")`).waitFor({ timeout: 5000 });
  await page.locator(`.vrow:has-text("${run}") [data-state=success]`).waitFor({ timeout: 5000 });
  await context.close();
});

it("holds everything while it is paused, and catches up", async () => {
  const { page, context } = await pageOf(browser, server);
  await page.goto("/runs");
  await page.locator("[data-live=live]").click();
  const run = await start(server, { definition: "name: unseen\ntasks: {a: {type: noop}}" });
  await until(server, run, ["success"]);
  await page.waitForTimeout(800);
  expect(await page.locator(`.vrow:has-text("${run}")`).count()).toBe(0);
  await page.getByRole("button", { name: "Paused" }).click();
  await page.locator(`.vrow:has-text("${run}")`).waitFor();
  await context.close();
});

it("heals when the server is killed and returns, and then shows the truth", async () => {
  const own = await Standalone.fresh();
  try {
    const { page, context } = await pageOf(browser, own.url);
    const definition = "name: survivor\ntasks:\n  a: {run: sleep 2}\n  b: {depends_on: [a], run: echo done}\n";
    const run = await start(own.url, { definition });
    await page.goto(`/runs/${run}`);
    await page.locator("[data-task=a][data-state=running]").waitFor();
    // Master and worker at once, without a goodbye.
    await own.stop("SIGKILL");
    await page.getByText("Reconnecting…").waitFor();
    await own.start();
    await page.locator("[data-live=live]").waitFor({ timeout: 20_000 });
    const end = await until(own.url, run, ["success", "failed"]);
    await page.locator(`.page-head [data-state=${end.state}]`).waitFor();
    // What is shown of each job is what the server says.
    const { items } = (await send(own.url, "GET", `/api/v1/runs/${run}/jobs`)) as {
      items: { task: string; state: string }[];
    };
    for (const job of items) await page.locator(`[data-task=${job.task}][data-state=${job.state}]`).waitFor();
    await context.close();
  } finally {
    await own.end();
  }
});
