/** A task of a million jobs: one box with counts, a map of squares, a table with pages; and nothing reads all of them. */
import type { Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import { agree, expectAccessible, picture, send, start, until, withPage } from "./world";

const server = inject("server");
let page: Page;

withPage(server, (opened) => {
  page = opened;
});

const MILLION = `name: million-jobs
tasks:
  first: {type: noop}
  each:
    depends_on: [first]
    foreach: {items: '\${{ range(1000000) }}', max_parallel: 2}
    run: 'test "\${{ item }}" != 5'
  last: {depends_on: [each], type: noop}
`;

interface Counted {
  task: string;
  first_job: number;
  job_counts: Record<string, number>;
}

async function counted(run: string): Promise<Counted> {
  const { items } = (await send(server, "GET", `/api/v1/runs/${run}/tasks`)) as { items: Counted[] };
  return items.find(({ task }) => task === "each") as Counted;
}

it("counts, maps and pages a million jobs", async () => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  const run = await start(server, { definition: MILLION });
  await page.goto(`/runs/${run}`);
  // The box has the server's counts, and follows them.
  const box = page.locator("[data-task=each]");
  const text = () => box.locator("text.sub").innerHTML();
  await box.getByText(/^[\d,]+\/1M · 1 failed$/).waitFor({ timeout: 30_000 });
  const done = (words: string) => Number(words.split("/")[0]?.replaceAll(",", ""));
  const before = done(await text());
  await expect.poll(async () => done(await text()), { timeout: 30_000 }).toBeGreaterThan(before);
  await picture(page, "many-jobs-graph");

  // A large task leads to its map and its table.
  await box.click();
  await page.waitForURL(/tab=jobs/);
  const squares = page.locator(".heat [data-place]");
  await squares.first().waitFor();
  expect(await squares.count()).toBe(600);
  await page.getByText("a square for 1,667 jobs each").waitFor();
  expect(await squares.first().getAttribute("data-state")).toBe("failed");
  expect(await squares.first().getAttribute("title")).toMatch(/^\[0\] to \[1,666\]: .*1 failed/);
  expect(await squares.last().getAttribute("data-state")).toBe("ready");
  await picture(page, "many-jobs-table");
  await expectAccessible(page);

  // The last square begins with its own job, and goes on to the end.
  const { first_job } = await counted(run);
  await squares.last().click();
  const first = first_job + 599 * 1667;
  await page.waitForURL(new RegExp(`from=${first}`));
  const rows = page.locator(".vrow");
  await expect.poll(() => rows.first().innerText()).toContain(`[${599 * 1667}]`);
  await page.getByLabel("From job").fill(String(first_job + 999_990));
  await page.keyboard.press("Enter");
  await expect.poll(() => rows.count()).toBe(10);
  await rows.last().click();
  const panel = page.getByRole("complementary", { name: "Job each" });
  await panel.getByText("[999999]").waitFor();
  await panel.getByRole("region", { name: "Why it waits" }).getByText("2 jobs of its task run").first().waitFor();
  // Whatever state is asked for, the server finds it.
  await page.goto(`/runs/${run}?tab=jobs&task=each&state=failed`);
  await expect.poll(() => rows.count()).toBe(1);
  expect(await rows.first().innerText()).toContain("[5]");

  // How it ended is counted, whatever was shown while it ran.
  await agree(page, "Stop", /running jobs? will be ended.* jobs will not start/);
  await until(server, run, ["stopped"]);
  await page.goto(`/runs/${run}`);
  await page.locator("[data-task=last][data-state=stopped]").waitFor();
  const { job_counts: end } = await counted(run);
  expect((end.success ?? 0) + (end.failed ?? 0) + (end.stopped ?? 0)).toBe(1_000_000);
  const number = (of: number | undefined) => (of ?? 0).toLocaleString("en-US");
  await expect.poll(text).toBe(`${number(end.success)}/1M · ${number(end.failed)} failed`);
  // A thousand pages were there to read; some were.
  expect(asked.filter((path) => path.endsWith("/jobs")).length).toBeLessThan(40);
});
