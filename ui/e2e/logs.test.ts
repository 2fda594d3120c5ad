/** A log is read in every way: some lines, long lines, far lines. */
import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import { expectAccessible, jobOf, picture, start, until, withPage } from "./world";

const server = inject("server");
let page: Page;

withPage(server, (opened) => {
  page = opened;
});

const COLOURS = `name: colours
tasks:
  talk:
    run: |
      printf '\\033[1;31mred and bold\\033[0m plain\\n'
      printf 'one \\033[32mgreen\\033[0m\\n'
`;

it("shows colours, and hands out the log as plain text", async () => {
  const run = await start(server, { definition: COLOURS });
  await until(server, run, ["success"]);
  await page.goto(`/runs/${run}/jobs/${(await jobOf(server, run, "talk")).number}/log`);
  const bold = page.locator("[data-line='1'] .ansi-bold", { hasText: /^red and bold$/ });
  await bold.waitFor();
  const colour = (what: Locator) => what.evaluate((element) => getComputedStyle(element).color);
  const plain = await colour(page.locator("[data-line='1'] .text"));
  expect(await colour(bold)).not.toBe(plain);
  expect(await colour(page.locator("[data-line='2'] .text span", { hasText: /^green$/ }))).not.toBe(plain);
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download" }).click(),
  ]);
  expect(file.suggestedFilename()).toBe(`talk-${run}-1.log`);
  expect(readFileSync(await file.path(), "utf8")).toBe("red and bold plain\none green\n");
});

/** Some thousand lines, of which a few are bad, and each hundredth is long. */
const CHATTY = `name: chatty
tasks:
  talk:
    run: |
      seq 1 6000 | awk '
        $1 % 1000 == 0 { print "2026-01-02T03:04:05Z ERROR part " $1 " is broken"; next }
        $1 % 500 == 0 { print "WARN part " $1 " is slow"; next }
        $1 % 100 == 0 { s = "INFO part " $1; for (i = 0; i < 60; i++) s = s " long words"; print s " end-of-" $1; next }
        { print "INFO part " $1 }'
`;

const numbers = () =>
  page.locator("[data-line]").evaluateAll((lines) => lines.map((line) => Number(line.getAttribute("data-line"))));

async function openLog(): Promise<void> {
  const run = await start(server, { definition: CHATTY });
  await until(server, run, ["success"]);
  await page.goto(`/runs/${run}/jobs/${(await jobOf(server, run, "talk")).number}/log`);
  await page.locator("[data-line='6000']", { hasText: "ERROR part 6000" }).waitFor();
}

it("shows only lines of a level, and their own numbers", async () => {
  await openLog();
  await page.getByLabel("Level of lines").selectOption("error");
  await page.getByText("6 of 6,000 lines").waitFor();
  expect(await numbers()).toEqual([1000, 2000, 3000, 4000, 5000, 6000]);
  await page.getByLabel("Level of lines").selectOption("warn");
  await page.getByText("12 of 6,000 lines").waitFor();
  expect((await numbers()).slice(0, 4)).toEqual([500, 1000, 1500, 2000]);
  await picture(page, "log-level");
  await expectAccessible(page);
  // It is in the address, so a link shows the same; a line of it is marked where it stands.
  expect(page.url()).toContain("level=warn");
  await page.locator("[data-line='1500'] a").click();
  await page.waitForURL(/line=1500/);
  await page.reload();
  await page.locator("[data-line='1500'].on").waitFor();
  await page.getByLabel("Search in the log").fill("part 3");
  await page.keyboard.press("Enter");
  await page.locator("[data-line='3000'].on mark").waitFor();
  await page.getByLabel("Level of lines").selectOption("");
  await page.locator("[data-line='2999']").waitFor();
});

it("wraps long lines, of a long log too, and reaches both ends", async () => {
  await openLog();
  const height = async (line: number) => (await page.locator(`[data-line='${line}']`).boundingBox())?.height ?? 0;
  await page.getByLabel("Go to line").fill("3100");
  await page.keyboard.press("Enter");
  await page.locator("[data-line='3100']", { hasText: "end-of-3100" }).waitFor();
  expect(await height(3100)).toBe(20);
  await page.getByRole("button", { name: "Wrap", exact: true }).click();
  await page.locator(".log.wrapped").waitFor();
  await expect.poll(() => height(3100)).toBeGreaterThan(40);
  // All of it is in view, and every line follows the one before it.
  const box = await page.locator(".log").boundingBox();
  const marked = await page.locator("[data-line='3100']").boundingBox();
  if (!box || !marked) throw new Error("nothing is shown");
  expect(marked.y).toBeGreaterThanOrEqual(box.y);
  expect(marked.y + marked.height).toBeLessThanOrEqual(box.y + box.height);
  const tops = await page.locator("[data-line]").evaluateAll((lines) =>
    lines.map((line) => {
      const { top, bottom } = line.getBoundingClientRect();
      return { top, bottom, number: Number(line.getAttribute("data-line")) };
    }),
  );
  for (const [place, line] of tops.slice(1).entries()) {
    expect(line.number).toBe((tops[place]?.number ?? 0) + 1);
    expect(Math.abs(line.top - (tops[place]?.bottom ?? 0))).toBeLessThan(1.5);
  }
  await picture(page, "log-wrapped");
  await page.getByRole("button", { name: "End", exact: true }).click();
  await page.locator("[data-line='6000']", { hasText: "ERROR part 6000" }).waitFor();
  const last = await page.locator("[data-line='6000']").boundingBox();
  expect(Math.abs((last?.y ?? 0) + (last?.height ?? 0) - box.y - box.height)).toBeLessThan(4);
  await page.locator(".log").evaluate((log) => log.scrollTo(0, 0));
  await page.locator("[data-line='1']", { hasText: "INFO part 1" }).waitFor();
  expect(Math.abs(((await page.locator("[data-line='1']").boundingBox())?.y ?? 0) - box.y)).toBeLessThan(4);
  await page.getByRole("button", { name: "Wrap", exact: true }).click();
  await page.locator(".log:not(.wrapped)").waitFor();
});
