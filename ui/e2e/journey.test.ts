/** From an empty installation to a scheduled workflow that failed and was recovered, using only what is on screen. */
import { writeFileSync } from "node:fs";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Standalone } from "./server";
import { expectAccessible, open, pageOf, picture } from "./world";

let browser: Browser;
let own: Standalone;

beforeAll(async () => {
  browser = await open();
  own = await Standalone.fresh();
});
afterAll(async () => {
  await browser?.close();
  await own?.end();
});

it("leads a newcomer all the way", async () => {
  const { page, context, complaints } = await pageOf(browser, own.url);
  await page.goto("/");
  await page.getByRole("heading", { name: "Nothing here yet. What first?" }).waitFor();
  await picture(page, "journey-1-empty");
  await expectAccessible(page);

  // An example first: it retries, fans out and ends well.
  await page.getByRole("button", { name: "Run the example" }).click();
  await page.locator(".page-head [data-state=success]").waitFor();
  await page.locator("[data-task=check]").click();
  await page.getByRole("link", { name: "Attempt 2" }).waitFor();
  await picture(page, "journey-2-example");

  // Then an own workflow of three tasks, on a schedule, of which one fails.
  await page.getByRole("link", { name: "Editor" }).click();
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(`name: mine
schedule: "0 4 * * *"
tasks:
  fetch: {run: echo fetched}
  parse:
    depends_on: [fetch]
    retries: {max: 1, delay: 100ms}
    run: |
      echo "reading $WINDLASS_RUN"
      if [ ! -e "${own.data}/mended" ]; then echo "no such column: price" >&2; exit 3; fi
  store: {depends_on: [parse], run: echo stored}
`);
  await page.getByText("Valid", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Store", exact: true }).click();
  await page.getByRole("link", { name: "Start…" }).click();
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.locator(".page-head [data-state=failed]").waitFor();

  // Why? The task that failed, its log, the line.
  await page.locator("[data-task=parse]").click();
  await page.getByRole("link", { name: "Log", exact: true }).click();
  await page.locator("[data-line]", { hasText: "no such column: price" }).waitFor();
  await picture(page, "journey-3-log");
  await page.goBack();

  // Mended outside, recovered here; what succeeded is not done again.
  writeFileSync(`${own.data}/mended`, "");
  await page.getByRole("button", { name: "Recover" }).click();
  await page.getByRole("dialog").getByText("1 job that succeeded will not be repeated").waitFor();
  await picture(page, "journey-4-recover");
  await page.getByRole("dialog").getByRole("button", { name: "Recover" }).click();
  await page.locator(".page-head [data-state=success]").waitFor();

  // It will run by itself.
  await page.getByRole("link", { name: "Home", exact: true }).click();
  const firing = page.getByRole("region", { name: "Next firings" }).getByRole("link", { name: "mine" });
  await firing.waitFor();
  await picture(page, "journey-5-home");
  await firing.click();
  const views = page.getByRole("navigation", { name: "Views of the workflow" });
  await views.getByRole("link", { name: "Schedules" }).click();
  await page.getByText("at 04:00").first().waitFor();

  // The days before today have no run. It is said which, and then they are made up for.
  await views.getByRole("link", { name: "Calendar" }).click();
  await page.getByText(/moments without a run/).waitFor();
  await picture(page, "journey-6-calendar");
  await page.getByRole("link", { name: "Backfill…" }).click();
  const day = (before: number) =>
    new Intl.DateTimeFormat("en-CA", { timeZone: "Europe/Oslo" }).format(Date.now() - before * 86_400_000);
  await page.getByLabel("From", { exact: true }).fill(day(3));
  await page.getByLabel("To", { exact: true }).fill(day(2));
  await page.getByText("2 runs would be made").waitFor();
  await page.getByRole("button", { name: "Start 2 runs" }).click();
  const row = page.getByRole("region", { name: "Backfills" }).getByRole("row", { name: /mine/ });
  await row.locator("[data-state=done]").waitFor({ timeout: 30_000 });
  await picture(page, "journey-7-backfill");
  await expectAccessible(page);
  expect(complaints).toEqual([]);
  await context.close();
});
