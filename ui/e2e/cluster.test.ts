/** The machine room while something goes on: who works at what, what waits for which slot, who holds which permit. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { expectAccessible, picture, send, start, until, untilJob, withPage } from "./world";

const server = inject("server");
let page: Page;
let run: string;
let holds: number;

withPage(server, (opened) => {
  page = opened;
});
beforeAll(async () => {
  await send(server, "PUT", "/api/v1/pools/one-seat", { limit: 1 });
  const definition = `name: crowd
priority: high
tasks:
  seated: {run: sleep 300, pool: one-seat}
  standing: {run: sleep 300, pool: one-seat}
  gpu: {run: 'true', group: gpu}
`;
  run = await start(server, { definition });
  holds = await untilJob(server, run, "seated", "running");
});
afterAll(async () => {
  await send(server, "POST", `/api/v1/runs/${run}:stop`);
  await until(server, run, ["stopped"]);
  await send(server, "DELETE", "/api/v1/pools/one-seat");
});

it("has masters, the leader, and the owner and epoch of every shard", async () => {
  const cluster = (await send(server, "GET", "/api/v1/cluster")) as {
    leader: string;
    masters: { name: string; shards: number }[];
    shards: { shard: number; owner: string; epoch: number }[];
  };
  await page.goto("/cluster");
  const masters = page.getByRole("region", { name: "Masters" });
  for (const { name, shards } of cluster.masters) {
    const row = masters.getByRole("row", { name });
    await row.waitFor();
    const cells = await row.locator("td").allInnerTexts();
    expect(cells.slice(0, 4)).toEqual([name, "Alive", name === cluster.leader ? "leader" : "", String(shards)]);
  }
  const shown = await page.getByRole("region", { name: "Shards" }).getByRole("listitem").allInnerTexts();
  expect(shown.map((text) => text.split(/\s+/).slice(0, 4))).toEqual(
    cluster.shards.map(({ shard, epoch, owner }) => [String(shard), "epoch", String(epoch), owner]),
  );
});

it("has what a worker does now", async () => {
  await page.goto("/cluster?tab=workers");
  const row = page.getByRole("region", { name: "Workers" }).getByRole("row").nth(1);
  await row.getByText(/^[1-4]\/4$/).waitFor();
  await row.getByRole("button").click();
  const now = page.getByRole("complementary").getByRole("region", { name: "Attempts" });
  await now.getByRole("link", { name: "crowd · seated" }).waitFor();
  await picture(page, "cluster-worker");
  await expectAccessible(page);
  await now.getByRole("link", { name: "crowd · seated" }).click();
  await page.waitForURL(`**/runs/${run}?job=${holds}`);
});

it("counts what waits by group and priority, and warns where nobody serves it", async () => {
  await page.goto("/cluster?tab=queues");
  const row = page.getByRole("row", { name: /^gpu/ });
  await row.getByText("none takes work").waitFor();
  const heads = await page.getByRole("columnheader").allInnerTexts();
  const cells = await row.locator("td").allInnerTexts();
  const of = (head: string) => cells[heads.indexOf(head)];
  expect([of("High"), of("Medium"), of("Ready")]).toEqual(["1", "–", "1"]);
});

it("has how many permits of a pool are held, and what waits for one says so", async () => {
  await page.goto("/cluster?tab=pools");
  await page
    .getByRole("row", { name: /^one-seat/ })
    .getByText("1 of 1")
    .waitFor();
  await picture(page, "cluster-pool-held");
  await page.goto(`/runs/${run}`);
  await page.locator("[data-task=standing]").click();
  await page
    .getByRole("region", { name: "Why it waits" })
    .getByText(/one-seat/)
    .first()
    .waitFor();
});
