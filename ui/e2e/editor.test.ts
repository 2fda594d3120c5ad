/** The editor: the server's own words, completion, the graph as a pen. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { program } from "./server";
import { open, pageOf, send, type Watched } from "./world";

const server = inject("server");
let browser: Browser;
let watched: Watched;
let page: Page;

beforeAll(async () => {
  browser = await open();
  watched = await pageOf(browser, server);
  page = watched.page;
});
afterAll(async () => {
  expect(watched.complaints).toEqual([]);
  await browser?.close();
});

async function type(text: string): Promise<void> {
  await page.goto("/editor");
  const content = page.locator(".cm-content");
  await content.click();
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Delete");
  // As text that is pasted: nothing is completed or indented.
  await page.keyboard.insertText(text);
}

const textNow = () => page.locator(".cm-content").evaluate((element) => (element as HTMLElement).innerText);
const CHAIN =
  "name: chain\ntasks:\n  a: {run: echo a}\n  b: {depends_on: [a], run: echo b}\n  c: {depends_on: [b], run: echo c}\n";

it("says of a mistyped key what the command line says", async () => {
  const text = "name: typo\ntasks:\n  a:\n    run: echo\n    retrys: 3\n";
  const file = join(mkdtempSync(join(tmpdir(), "windlass-ui-")), "typo.yaml");
  writeFileSync(file, text);
  let said = "";
  try {
    execFileSync(program(), ["validate", file], { stdio: "pipe" });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: Buffer; stderr: Buffer };
    said = `${stdout}${stderr}`;
  }
  await type(text);
  const problem = page.locator(".problems button").first();
  await problem.waitFor();
  const shown = (await problem.innerText()).replace(/\s+/g, " ");
  const [, code = "", message = ""] = /error\[(\w+)\] (.*?) \d+:\d+/.exec(shown) ?? [];
  expect(code).toBe("unknown_key");
  expect(said).toContain(code);
  expect(said).toContain(message);
  expect(shown).toContain("retries");
  expect(said).toContain("retries");
  await page.locator(".cm-lintRange-error").first().waitFor();
  await page.getByText("1 mistake").waitFor();
  expect(await page.getByRole("button", { name: "Store", exact: true }).isDisabled()).toBe(true);
});

it("completes keys and words from the schema", async () => {
  await type("name: x\ntasks:\n  a:\n    run: echo\n    dep");
  await page.keyboard.press("Control+Space");
  await page.locator(".cm-tooltip-autocomplete li:has-text('depends_on')").waitFor();
  await page.keyboard.press("Escape");
});

it("draws an edge that the YAML follows, and refuses a circle with its path", async () => {
  await type(CHAIN);
  await page.getByText("Valid", { exact: true }).waitFor();
  const drag = async (from: string, to: string) => {
    const port = page.locator(`[data-task=${from}] .port`);
    const target = page.locator(`[data-task=${to}] rect.box`);
    const [start, end] = [await port.boundingBox(), await target.boundingBox()];
    if (!start || !end) throw new Error("nothing to drag");
    await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2);
    await page.mouse.down();
    await page.mouse.move(end.x + end.width / 2, end.y + end.height / 2, { steps: 5 });
    await page.mouse.up();
  };
  await drag("a", "c");
  await page.waitForFunction(() => document.querySelector(".cm-content")?.textContent?.includes("[b, a]"));
  await drag("c", "a");
  const alert = page.getByRole("alert");
  await alert.getByText("That would be a circle.").waitFor();
  expect(await alert.textContent()).toMatch(/a.*→.*c|c.*→.*a/);
  expect(await textNow()).toContain("a: {run: echo a}");
});

it("edits a task in a form, and the YAML follows", async () => {
  await type(CHAIN);
  await page.locator("[data-task=b]").click();
  const form = page.getByRole("form", { name: "Task b" });
  await form.getByLabel("Retries").fill("3");
  await form.getByLabel("Retries").blur();
  await page.waitForFunction(() => document.querySelector(".cm-content")?.textContent?.includes("retries: 3"));
  await page.getByText("Valid", { exact: true }).waitFor();
});

it("stores a workflow, and tries one without storing it", async () => {
  await type(CHAIN);
  await page.getByRole("button", { name: "Store", exact: true }).click();
  await page.getByText("Stored as version 1.").waitFor();
  expect(((await send(server, "GET", "/api/v1/workflows/chain")) as { version: number }).version).toBe(1);
  await page.getByRole("button", { name: "Try it" }).click();
  await page.waitForURL(/\/runs\/\w+/);
  await page.locator(".page-head [data-state=success]").waitFor();
});

it("turns a crontab into workflows", async () => {
  await page.goto("/editor?crontab=true");
  await page.getByLabel("Crontab").fill("# Say so\n0 4 * * * /bin/echo nightly\n");
  await page.getByRole("button", { name: "Store 1 workflow" }).click();
  await page.waitForURL(/\/schedules/);
  await page.getByRole("link", { name: "echo", exact: true }).waitFor();
});
