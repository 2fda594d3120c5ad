/** What is shown follows what happens, also when the server dies and comes back. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { Postgres } from "./postgres";
import { Apart, Standalone } from "./server";
import { apply, jobOf, open, pageOf, send, start, until } from "./world";

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

/** Long enough that it runs on while its worker and its master die; each part can be tried again. */
const LONG = `name: long-way
defaults: {retries: {max: 5, delay: 100ms}}
tasks:
  one: {run: sleep 4}
  two: {depends_on: [one], run: sleep 4}
  three: {depends_on: [two], run: 'echo "there"'}
`;

/** What is shown of a run, all of it, is what the server says. */
async function expectTruth(page: Page, url: string, run: string): Promise<void> {
  const shown = (await send(url, "GET", `/api/v1/runs/${run}`)) as { state: string };
  await page.locator(`.page-head [data-state=${shown.state}]`).waitFor({ timeout: 10_000 });
  const { items } = (await send(url, "GET", `/api/v1/runs/${run}/jobs`)) as {
    items: { task: string; state: string; number: number; attempts: { number: number; state: string }[] }[];
  };
  for (const job of items) {
    const node = page.locator(`[data-task=${job.task}][data-state=${job.state}]`);
    await node.waitFor({ timeout: 10_000 });
    await node.click();
    const panel = page.getByRole("region", { name: "Attempts" });
    for (const attempt of job.attempts) {
      const line = panel.locator("li", { hasText: `Attempt ${attempt.number}` });
      await line.locator(`[data-state=${attempt.state}]`).waitFor({ timeout: 10_000 });
    }
    expect(await panel.locator("li").count()).toBe(job.attempts.length);
  }
}

it("follows a run to its end while its worker and then its master are killed and return", async () => {
  const apart = await Apart.fresh(1);
  try {
    const [master] = apart.masters;
    const [worker] = apart.workers;
    if (!master || !worker) throw new Error("nothing was started");
    const { page, context } = await pageOf(browser, master.url);
    await apply(master.url, LONG);
    const run = await start(master.url, { workflow: "long-way" });
    await page.goto(`/runs/${run}`);
    await page.locator("[data-task=one][data-state=running]").waitFor();

    await worker.running.stop("SIGKILL");
    await apart.startWorker(worker);
    await page.locator("[data-task=two][data-state=running]").waitFor({ timeout: 30_000 });

    await master.running.stop("SIGKILL");
    await page.getByText("Reconnecting…").waitFor();
    await apart.startMaster(master);
    await page.locator("[data-live=live]").waitFor({ timeout: 20_000 });

    await page.locator(".page-head [data-state=success]").waitFor({ timeout: 40_000 });
    await expectTruth(page, master.url, run);
    await context.close();
  } finally {
    await apart.end();
  }
}, 120_000);

it("follows a run of several masters while the one that owns it is killed", async () => {
  const postgres = await Postgres.fresh();
  let apart: Apart | undefined;
  try {
    apart = await Apart.fresh(3, postgres.url);
    const all = apart.masters;
    await apply(all[0]?.url ?? "", LONG);
    const run = await start(all[0]?.url ?? "", { workflow: "long-way" });
    const { owner } = (await send(all[0]?.url ?? "", "GET", `/api/v1/runs/${run}`)) as { owner: string };
    const place = Number(owner.slice(1)) - 1;
    const owning = all[place];
    // Somebody looks at it through a master that does not own it.
    const other = all[(place + 1) % all.length];
    if (!owning || !other) throw new Error(`no master is called ${owner}`);
    const { page, context } = await pageOf(browser, other.url);
    await page.goto(`/runs/${run}`);
    await page.locator("[data-task=one][data-state=running]").waitFor({ timeout: 20_000 });
    await owning.running.stop("SIGKILL");
    await page.locator("[data-task=two][data-state=running]").waitFor({ timeout: 40_000 });
    await apart.startMaster(owning);
    await page.locator(".page-head [data-state=success]").waitFor({ timeout: 60_000 });
    expect(await page.locator("[data-live=live]").count()).toBe(1);
    await expectTruth(page, other.url, run);
    await context.close();
  } finally {
    await apart?.end();
    await postgres.end();
  }
}, 180_000);
