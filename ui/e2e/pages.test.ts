/** Every page in both themes: it shows what the server has, nobody is kept out, and nothing complains. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { type Seeded, seed } from "./seed";
import { expectAccessible, jobOf, open, pageOf, picture, type Watched } from "./world";

const server = inject("server");
let browser: Browser;
let runs: Seeded;

beforeAll(async () => {
  browser = await open();
  runs = await seed(server);
});
afterAll(() => browser?.close());

/** A name, where it is, and something that must be on it. */
const PAGES: [string, (runs: Seeded) => string | Promise<string>, string][] = [
  ["home", () => "/", "text=Failed lately"],
  ["runs", () => "/runs", "a:has-text('flaky-import')"],
  ["runs-filtered", () => "/runs?state=failed", "a:has-text('flaky-import')"],
  ["run-graph", ({ done }) => `/runs/${done}`, ".node:has-text('publish')"],
  [
    "run-failed",
    async ({ failed }) => `/runs/${failed}?job=${(await jobOf(server, failed, "parse")).number}`,
    "text=exit 3",
  ],
  [
    "run-waits",
    async ({ slow }) => `/runs/${slow}?job=${(await jobOf(server, slow, "nowhere")).number}`,
    "a:text-is('no_worker_fits')",
  ],
  ["run-gantt", ({ done }) => `/runs/${done}?tab=gantt`, ".gantt-bar"],
  ["run-jobs", ({ done }) => `/runs/${done}?tab=jobs`, "button:has-text('extract')"],
  ["run-timeline", ({ done }) => `/runs/${done}?tab=timeline`, "text=Created by"],
  ["run-details", ({ done }) => `/runs/${done}?tab=details`, "text=rows"],
  [
    "log",
    async ({ done }) => `/runs/${done}/jobs/${(await jobOf(server, done, "extract")).number}/log`,
    "text=extracting",
  ],
  ["workflows", () => "/workflows", "a:text-is('nightly-sales')"],
  ["workflow", () => "/workflows/nightly-sales", ".node:has-text('extract')"],
  ["workflow-runs", () => "/workflows/nightly-sales?tab=runs", "th:has-text('publish')"],
  ["workflow-calendar", () => "/workflows/nightly-sales?tab=calendar", "text=An empty square was not due"],
  ["workflow-yaml", () => "/workflows/nightly-sales?tab=yaml", ".cm-line:has-text('extract')"],
  ["workflow-versions", () => "/workflows/nightly-sales?tab=versions", ".cm-line:has-text('published twice')"],
  ["workflow-schedules", () => "/workflows/nightly-sales?tab=schedules", "a:text-is('nightly')"],
  ["workflow-dependencies", () => "/workflows/nightly-sales?tab=dependencies", "text=What needs it"],
  ["start", () => "/workflows/nightly-sales/start", "label:has-text('region')"],
  ["editor", () => "/editor?workflow=nightly-sales", ".node:has-text('extract')"],
  ["crontab", () => "/editor?crontab=true", "text=Paste a crontab"],
  ["schedules", () => "/schedules", "a:text-is('nightly')"],
  ["schedule", () => "/schedules/nightly-sales%40nightly", "text=Next moments"],
  ["backfills", () => "/backfills?workflow=nightly-sales&from=2026-11-02&to=2026-11-13", "text=would be made"],
  ["cluster", () => "/cluster", "text=epoch"],
  ["cluster-workers", () => "/cluster?tab=workers", "text=Online"],
  ["cluster-queues", () => "/cluster?tab=queues", "td:text-is('no-such-group')"],
  ["cluster-pools", () => "/cluster?tab=pools", "td:text-is('warehouse')"],
  ["cluster-tokens", () => "/cluster?tab=tokens", "text=Make a token"],
  ["login", () => "/login", "label:text-is('Token')"],
  ["not-found", () => "/runs/nowhere", "text=There is no run"],
];

describe.each(["light", "dark"] as const)("%s", (theme) => {
  let watched: Watched;
  beforeAll(async () => {
    watched = await pageOf(browser, server, theme);
  });
  afterAll(() => watched.context.close());

  it.each(PAGES)("%s", async (name, where, sign) => {
    const { page, complaints } = watched;
    await page.goto(await where(runs));
    await page.locator(sign).first().waitFor({ timeout: 10_000 });
    // What follows the first sight has come: the graph fits, live updates are there.
    await page.waitForTimeout(150);
    await picture(page, `${name}-${theme}`);
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe(theme);
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });
});
