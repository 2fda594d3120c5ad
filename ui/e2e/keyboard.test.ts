/** The main things, with keys alone. */
import type { Locator, Page } from "playwright-core";
import { beforeAll, beforeEach, expect, inject, it } from "vitest";
import { FLAKY, GATE } from "./seed";
import { apply, start, until, untilJob, withPage } from "./world";

const server = inject("server");
let page: Page;
let failed: string;

withPage(server, (opened) => {
  page = opened;
});
beforeAll(async () => {
  await apply(server, FLAKY);
  failed = await start(server, { workflow: "flaky-import" });
  await until(server, failed, ["failed"]);
});
beforeEach(async () => {
  await page.goto("/");
  await page.getByRole("heading", { name: "Failed lately" }).waitFor();
});

it("goes to every page", async () => {
  for (const [key, path] of [
    ["r", "/runs"],
    ["w", "/workflows"],
    ["s", "/schedules"],
    ["b", "/backfills"],
    ["k", "/cluster"],
    ["e", "/editor"],
    ["h", "/"],
  ] as const) {
    await page.locator("#content").focus();
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await page.waitForURL((url) => url.pathname === path);
  }
});

it("finds a workflow in the palette", async () => {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").waitFor();
  await page.keyboard.type("flaky");
  await page.getByRole("option", { name: /^flaky-import\s*workflow/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/workflows\/flaky-import$/);
});

it("shows and hides the help", async () => {
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByText("Go anywhere, do anything").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
});

it("moves in a list and opens a run", async () => {
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.locator(".vrow").first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  expect(await page.locator(".vrow.current").count()).toBe(1);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/runs\/\w+$/);
});

it("focuses the filter, and keeps letters for typing there", async () => {
  await page.goto("/workflows");
  await page.getByRole("link", { name: "flaky-import", exact: true }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("grt?");
  expect(await page.locator("[data-filter]").inputValue()).toBe("grt?");
  await page.getByText("No workflow fits").waitFor();
});

/** Presses Tab until the focus is where it should be: everything must be reached that way. */
async function tabTo(target: Locator): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < 80; presses += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`80 tabs do not reach ${target}`);
}

const dialogButton = (name: string) => page.getByRole("dialog").getByRole("button", { name, exact: true });

it("recovers a run", async () => {
  await page.goto(`/runs/${failed}`);
  await tabTo(page.getByRole("button", { name: "Recover" }));
  await page.keyboard.press("Enter");
  await tabTo(dialogButton("Recover"));
  await page.keyboard.press("Enter");
  await page.getByText("The run is open again.").waitFor();
});

it("starts a run with a parameter, pauses it, goes on and stops it", async () => {
  await apply(
    server,
    "name: by-keys\nparams: {day: monday}\ntasks: {a: {run: sleep 120}, b: {depends_on: [a], type: noop}}",
  );
  await page.goto("/workflows/by-keys");
  await tabTo(page.getByRole("link", { name: "Start", exact: true }));
  await page.keyboard.press("Enter");
  await tabTo(page.getByLabel("day"));
  await page.keyboard.press("Control+A");
  await page.keyboard.type("friday");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/runs\/\w+/);
  await page.locator("[data-task=a][data-state=running]").waitFor();
  for (const [verb, state] of [
    ["Pause", "[data-state=pausing], .page-head [data-state=paused]"],
    ["Resume", "[data-state=running]"],
    ["Stop", "[data-state=stopped]"],
  ] as const) {
    await tabTo(page.getByRole("button", { name: verb, exact: true }));
    await page.keyboard.press("Enter");
    await tabTo(dialogButton(verb));
    await page.keyboard.press("Enter");
    await page.locator(`.page-head ${state}`).first().waitFor();
  }
  await tabTo(page.getByRole("link", { name: "Details" }));
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Parameters" }).getByText("friday").waitFor();
});

it("approves, with a comment", async () => {
  await apply(server, GATE);
  const run = await start(server, { workflow: "release" });
  await page.goto(`/runs/${run}?job=${await untilJob(server, run, "gate", "held")}`);
  await tabTo(page.getByRole("button", { name: "Approve", exact: true }));
  await page.keyboard.press("Enter");
  await tabTo(page.getByLabel("Comment"));
  await page.keyboard.type("seen");
  await tabTo(dialogButton("Approve"));
  await page.keyboard.press("Enter");
  await page.locator(".page-head [data-state=success]").waitFor();
});

it("reads a log: searches, goes to a line, and to the end", async () => {
  const run = await start(server, { definition: "name: counting\ntasks: {a: {run: seq 1 3000}}" });
  await until(server, run, ["success"]);
  await page.goto(`/runs/${run}/jobs/0/log`);
  await page.locator("[data-line='3000']").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("1234");
  await page.keyboard.press("Enter");
  await page.locator("[data-line='1234'] mark").waitFor();
  await tabTo(page.getByLabel("Go to line"));
  await page.keyboard.type("77");
  await page.keyboard.press("Enter");
  await page.locator("[data-line='77'].on").waitFor();
  await tabTo(page.getByRole("button", { name: "End", exact: true }));
  await page.keyboard.press("Enter");
  await page.locator("[data-line='3000']").waitFor();
});

it("writes a workflow, leaves the text by keys, and stores it", async () => {
  await page.goto("/editor");
  await tabTo(page.locator(".cm-content"));
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText("name: typed\ntasks: {a: {type: noop}}\n");
  await page.getByRole("heading", { name: "typed" }).waitFor();
  // Tab would indent; after Escape it moves on.
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  await tabTo(page.getByRole("button", { name: "Store", exact: true }));
  await page.keyboard.press("Enter");
  await page.getByText("Stored as version 1.").waitFor();
});

it("selects a task of the graph", async () => {
  await page.goto(`/runs/${failed}`);
  const node = page.locator("[data-task=parse]");
  await node.waitFor();
  await node.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("complementary", { name: "Job parse" }).waitFor();
});

it("switches the theme and holds live updates", async () => {
  const before = await page.evaluate(() => document.documentElement.dataset.theme);
  await page.keyboard.press("t");
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).not.toBe(before);
  await page.keyboard.press("t");
  await page.keyboard.press("p");
  await page.getByRole("button", { name: "Paused" }).waitFor();
  await page.keyboard.press("p");
  await page.locator("[data-live=live]").waitFor();
});
