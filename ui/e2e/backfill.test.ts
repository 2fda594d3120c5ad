/** Past moments of a schedule: which are missing, what would be done, and that it is done. */
import type { Page } from "playwright-core";
import { beforeAll, expect, inject, it } from "vitest";
import { agree, apply, expectAccessible, picture, send, withPage } from "./world";

const server = inject("server");
let page: Page;

const DAILY = `name: daily-report
schedule: {cron: "30 2 * * *", timezone: Europe/Oslo}
tasks:
  report: {run: 'echo "report of \${{ run.logical_time }}"'}
`;

/** A day so many before today, as the page's reader has it. */
const day = (before: number) =>
  new Intl.DateTimeFormat("en-CA", { timeZone: "Europe/Oslo" }).format(Date.now() - before * 86_400_000);

withPage(server, (opened) => {
  page = opened;
});
beforeAll(async () => {
  await apply(server, DAILY);
  await apply(server, `name: slow-report\nschedule: "0 1 * * *"\ntasks: {wait: {run: sleep 60}}\n`);
});

it("shows the plan before the button, and makes just those runs", async () => {
  await page.goto("/workflows/daily-report");
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Backfill…" }).click();
  await page.getByLabel("From", { exact: true }).fill(day(5));
  await page.getByLabel("To", { exact: true }).fill(day(3));
  await page.getByText("3 runs would be made").waitFor();
  const runs = async () =>
    ((await send(server, "GET", "/api/v1/runs?workflow=daily-report")) as { items: object[] }).items.length;
  expect(await runs()).toBe(0);
  await picture(page, "backfill-plan");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Start 3 runs" }).click();
  const row = page.getByRole("region", { name: "Backfills" }).getByRole("row", { name: /daily-report/ });
  await row.locator("[data-state=done]").waitFor({ timeout: 30_000 });
  await row.getByText("3/3").waitFor();
  expect(await runs()).toBe(3);
  // What has a run is not made again, unless that is wanted.
  await page.goto(`/backfills?workflow=daily-report&from=${day(6)}&to=${day(3)}`);
  await page.getByText("1 run would be made").waitFor();
  await page.getByText("3 moments of the range have a run already").waitFor();
  await page.getByLabel("Only what is missing").uncheck();
  await page.getByText("4 runs would be made").waitFor();
});

it("pauses, resumes and stops one", async () => {
  await page.goto(`/backfills?workflow=slow-report&from=${day(4)}&to=${day(1)}`);
  await page.getByRole("button", { name: /^Start \d runs$/ }).click();
  const row = page.getByRole("region", { name: "Backfills" }).getByRole("row", { name: /slow-report/ });
  await row.locator("[data-state=running]").waitFor();
  const then = async (verb: string, preview: RegExp, state: RegExp) => {
    await agree(row, verb, preview);
    await row.locator("[data-state]").filter({ hasText: state }).waitFor({ timeout: 20_000 });
  };
  await then("Pause", /No further run is made/, /Paused/);
  await then("Resume", /will be made, 1 at once/, /Running/);
  await then("Stop", /1 open run of it will be stopped/, /Stopped/);
  await picture(page, "backfills");
  await expectAccessible(page);
});

it("has every logical day, and runs one that is missing", async () => {
  await page.goto("/workflows/daily-report?tab=calendar");
  await page.getByRole("button", { name: `${day(4)}: Success` }).waitFor();
  await page.getByRole("button", { name: `${day(8)}: Missing` }).click();
  const one = page.getByRole("region", { name: `Moments of ${day(8)}` });
  await one.getByText("02:30:00").waitFor();
  await picture(page, "calendar");
  await expectAccessible(page);
  await one.getByRole("button", { name: "Run this missing day" }).click();
  expect(await page.getByRole("dialog").textContent()).toMatch(/1 run with the logical time of that day/);
  await page.getByRole("dialog").getByRole("button", { name: "Run it" }).click();
  await page.getByRole("button", { name: `${day(8)}: Success` }).waitFor({ timeout: 30_000 });
  await one.getByRole("link").click();
  await page.getByText("backfill", { exact: false }).first().waitFor();
  await page.locator(".page-head [data-state=success]").waitFor();
});
