/** Everything that can be done on a page is done on the server, after it was said what will happen. */
import type { Page } from "playwright-core";
import { beforeAll, expect, inject, it } from "vitest";
import { FLAKY, GATE, SALES } from "./seed";
import { agreed, agree as agreeOn, apply, send, start, until, untilJob, withPage } from "./world";

const server = inject("server");
let page: Page;

withPage(server, (opened) => {
  page = opened;
});
beforeAll(async () => {
  for (const text of [SALES, FLAKY, GATE]) await apply(server, text);
});

const agree = (button: string, preview: RegExp) => agreeOn(page, button, preview);
const chip = (state: string) => page.locator(`.page-head [data-state=${state}]`).waitFor();
const SLEEPER = "name: sleeper\ntasks:\n  one: {run: sleep 30}\n  two: {depends_on: [one], run: 'true'}\n";

it("pauses, resumes and stops a run", async () => {
  const run = await start(server, { definition: SLEEPER });
  await page.goto(`/runs/${run}`);
  await chip("running");
  await page.locator("[data-task=one][data-state=running]").waitFor();
  await agree("Pause", /Nothing new of it starts\. 1 running job will finish; 1 job will wait/);
  await page.locator(".page-head [data-state=pausing], .page-head [data-state=paused]").first().waitFor();
  await agree("Resume", /1 job may start again/);
  await chip("running");
  await agree("Stop", /1 running job will be ended/);
  await chip("stopped");
  expect((await until(server, run, ["stopped"])).state).toBe("stopped");
  await agree("Recover", /2 jobs that failed or stopped will be tried again/);
  await chip("running");
  await agree("Stop", /will be ended/);
  await chip("stopped");
});

it("runs again as a new run, and goes there", async () => {
  const run = await start(server, { workflow: "nightly-sales" });
  await until(server, run, ["success"]);
  await page.goto(`/runs/${run}`);
  await agree("Run again", /all 9 jobs/);
  await page.waitForURL((url) => !url.pathname.endsWith(run));
  await page.getByText("again after").waitFor();
  await chip("success");
});

it("retries a failed job, and forces its success", async () => {
  const run = await start(server, { workflow: "flaky-import" });
  await until(server, run, ["failed"]);
  await page.goto(`/runs/${run}`);
  await page.locator("[data-task=parse]").click();
  await agree("Retry", /new attempt, number 2\. 1 task after it/);
  await page.getByRole("link", { name: "Attempt 2" }).waitFor();
  await until(server, run, ["failed"]);
  await chip("failed");
  await agree("Force success", /counts as a success although it failed/);
  await chip("success");
  await page.locator("[data-task=store][data-state=success]").waitFor();
});

it("approves with a comment, and rejects", async () => {
  for (const [verb, end] of [
    ["Approve", "success"],
    ["Reject", "failed"],
  ] as const) {
    const run = await start(server, { workflow: "release" });
    await page.goto(`/runs/${run}?job=${await untilJob(server, run, "gate", "held")}`);
    await page.getByRole("button", { name: verb, exact: true }).click();
    await page.getByLabel("Comment").fill("looked at <b>it</b>");
    await page.getByRole("dialog").getByRole("button", { name: verb, exact: true }).click();
    await chip(end);
    await page.getByText("looked at <b>it</b>").first().waitFor();
  }
});

it("starts a run from the form with its parameters", async () => {
  await page.goto("/workflows/nightly-sales/start");
  await page.getByLabel("day").fill("2026-01-02");
  await page.getByLabel("region").selectOption("south");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL(/\/runs\/\w+/);
  const run = page.url().split("/").at(-1) ?? "";
  const shown = (await send(server, "GET", `/api/v1/runs/${run}`)) as { params: Record<string, unknown> };
  expect(shown.params).toMatchObject({ day: "2026-01-02", region: "south", dry_run: false });
  await chip("success");
});

it("offers the values that were given lately", async () => {
  await page.goto("/workflows/nightly-sales/start");
  const lately = page.getByRole("group", { name: "Lately given as day" });
  await lately.getByRole("button", { name: "2026-01-02" }).click();
  expect(await page.getByLabel("day").inputValue()).toBe("2026-01-02");
  await page.getByRole("group", { name: "Lately given as region" }).getByRole("button", { name: "south" }).click();
  expect(await page.getByLabel("region").inputValue()).toBe("south");
});

it("says what is wrong with a parameter", async () => {
  await page.goto("/workflows/nightly-sales/start");
  await page.getByLabel("day").fill("yesterday-ish");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByRole("alert").getByRole("link", { name: "bad_params" }).waitFor();
});

it("disables, enables and deletes a workflow", async () => {
  await apply(server, "name: short-lived\ntasks: {a: {type: noop}}");
  await page.goto("/workflows/short-lived");
  const more = async (item: string, verb: string, preview: RegExp) => {
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: item }).click();
    await agreed(page, preview, verb);
  };
  await more("Disable…", "Disable", /No new run begins/);
  await page.locator(".page-head").getByText("Disabled").waitFor();
  await more("Enable…", "Enable", /New runs may begin again/);
  await page.locator(".page-head").getByText("Disabled").waitFor({ state: "hidden" });
  await more("Delete…", "Delete", /Runs that it had stay/);
  await page.waitForURL(/\/workflows$/);
  await expect(send(server, "GET", "/api/v1/workflows/short-lived")).rejects.toThrow("404");
});

it("pauses and resumes a schedule", async () => {
  await page.goto("/schedules/nightly-sales%40nightly");
  await agree("Pause", /It fires no more until it is resumed/);
  await page.locator(".page-head").getByText("Paused").waitFor();
  await agree("Resume", /It fires again/);
  await page.locator(".page-head").getByText("Paused").waitFor({ state: "hidden" });
});

it("drains a worker, makes and deletes a pool, makes and revokes a token, and switches the scheduler", async () => {
  await page.goto("/cluster?tab=workers");
  await page.locator("td button").first().click();
  await agree("Drain", /It takes nothing new/);
  await page.locator("aside [data-state=draining]").waitFor();
  await agree("Resume", /offered jobs again/);
  await page.locator("aside [data-state=online]").waitFor();

  await page.goto("/cluster?tab=pools");
  await page.getByLabel("Name of the pool").fill("licences");
  await page.getByLabel("Permits").fill("2");
  await page.getByRole("button", { name: "Make or change" }).click();
  const row = page.getByRole("row", { name: /licences/ });
  await row.getByText("0 of 2").waitFor();
  await row.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await row.waitFor({ state: "hidden" });

  await page.goto("/cluster?tab=tokens");
  await page.getByLabel("What it is for").fill("ci");
  await page.getByRole("button", { name: "Make a token" }).click();
  await page.getByText("the only time that it is shown").waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("row", { name: /ci/ }).getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByText("There are no tokens").waitFor();

  const dispatch = page.getByRole("switch", { name: "Dispatch jobs" });
  await dispatch.click();
  await page.getByRole("dialog").getByRole("button", { name: "Switch off" }).click();
  await page.getByText("Scheduler is off", { exact: true }).waitFor();
  await dispatch.click();
  await page.getByRole("dialog").getByRole("button", { name: "Switch on" }).click();
  await page.getByText("Dispatching", { exact: true }).waitFor();
});
