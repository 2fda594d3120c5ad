/** The ledger of a schedule: every due moment, what became of it, and why. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { agree, apply, expectAccessible, picture, send, withPage } from "./world";

const server = inject("server");
let page: Page;

withPage(server, (opened) => {
  page = opened;
});
/** It is due again while a run of it is open. */
beforeAll(() =>
  apply(
    server,
    `name: ticker
schedule: {cron: "@every 1s", id: tick, overlap: skip}
tasks: {wait: {run: sleep 4}}
`,
  ),
);
afterAll(() => send(server, "POST", "/api/v1/workflows/ticker:disable"));

it("says of each moment what became of it and why", async () => {
  await page.goto("/schedules");
  await page
    .getByRole("row", { name: /ticker/ })
    .getByRole("link", { name: "tick", exact: true })
    .click();
  const ledger = page.getByRole("region", { name: "Ledger of firings" });
  const fired = ledger.getByRole("row").filter({ has: page.locator("[data-state=ran]") });
  await fired.first().waitFor({ timeout: 30_000 });
  await ledger
    .getByRole("row", { name: /Skipped A run of it was still open/ })
    .first()
    .waitFor({ timeout: 30_000 });
  await agree(page, "Pause", /Each due moment is written down as skipped/);
  await ledger
    .getByRole("row", { name: /Skipped The schedule was paused/ })
    .first()
    .waitFor({ timeout: 30_000 });
  await picture(page, "schedule-ledger");
  await expectAccessible(page);
  const run = await fired.first().getByRole("link").innerText();
  await fired.first().getByRole("link").click();
  await page.waitForURL(`**/runs/${run}`);
  await page.locator(".facts", { hasText: "schedule ticker@tick" }).waitFor();
  const { trigger } = (await send(server, "GET", `/api/v1/runs/${run}`)) as { trigger: object };
  expect(trigger).toMatchObject({ kind: "schedule", schedule: "ticker@tick" });
});

it("tries a rule, and says what is wrong with one", async () => {
  await page.goto("/schedules");
  const form = page.getByRole("region", { name: "Try a rule" });
  await form.getByLabel("Cron rule").fill("30 6 * * mon");
  await form.getByLabel("Time zone").fill("America/New_York");
  await form.getByRole("button", { name: "When?" }).click();
  await form.getByText("at 06:30 on Monday").waitFor();
  for (const text of await form.getByRole("listitem").allInnerTexts()) expect(text).toMatch(/^Mon \d.*, 06:30$/);
  await form.getByLabel("Cron rule").fill("61 * * * *");
  await form.getByRole("button", { name: "When?" }).click();
  await form.getByRole("alert").waitFor();
});
