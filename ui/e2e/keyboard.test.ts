/** The main things, with keys alone. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, inject, it } from "vitest";
import { FLAKY } from "./seed";
import { apply, open, pageOf, start, until, type Watched } from "./world";

const server = inject("server");
let browser: Browser;
let watched: Watched;
let page: Page;
let failed: string;

beforeAll(async () => {
  browser = await open();
  watched = await pageOf(browser, server);
  page = watched.page;
  await apply(server, FLAKY);
  failed = await start(server, { workflow: "flaky-import" });
  await until(server, failed, ["failed"]);
});
afterAll(async () => {
  expect(watched.complaints).toEqual([]);
  await browser?.close();
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

it("recovers a run", async () => {
  await page.goto(`/runs/${failed}`);
  const recover = page.getByRole("button", { name: "Recover" });
  await recover.waitFor();
  await recover.focus();
  await page.keyboard.press("Enter");
  const agree = page.getByRole("dialog").getByRole("button", { name: "Recover" });
  await agree.waitFor();
  for (
    let presses = 0;
    presses < 6 && !(await agree.evaluate((button) => button === document.activeElement));
    presses += 1
  )
    await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText("The run is open again.").waitFor();
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
