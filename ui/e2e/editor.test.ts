/** The editor: the server's own words, completion, the graph as a pen. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import { program } from "./server";
import { send, withPage } from "./world";

const server = inject("server");
let page: Page;

withPage(server, (opened) => {
  page = opened;
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

interface Said {
  code: string;
  severity: string;
  message: string;
  line: number;
  column: number;
  help?: string | null;
}

/** What the command line says about a text. */
function validated(text: string): { said: Said[]; printed: string } {
  const file = join(mkdtempSync(join(tmpdir(), "windlass-ui-")), "typo.yaml");
  writeFileSync(file, text);
  const run = (...more: string[]) => {
    try {
      return execFileSync(program(), ["validate", ...more, file], { stdio: "pipe" }).toString();
    } catch (error) {
      const { stdout, stderr } = error as { stdout: Buffer; stderr: Buffer };
      return more.length > 0 ? stdout.toString() : `${stdout}${stderr}`;
    }
  };
  const { diagnostics } = JSON.parse(run("-o", "json")) as { diagnostics: Said[] };
  return { said: diagnostics, printed: run() };
}

it("says of mistakes what the command line says: code, message, place and suggestion", async () => {
  const text = `name: typo
scedule: "0 3 * * *"
tasks:
  a:
    run: echo
    retrys: 3
  b: {depends_on: [aa], run: echo}
`;
  const { said, printed } = validated(text);
  expect(said.map(({ code }) => code)).toEqual(["unknown_key", "unknown_key", "unknown_reference"]);
  await type(text);
  await page.getByText("3 mistakes").waitFor();
  const shown = await page
    .locator(".problems button")
    .evaluateAll((buttons) => buttons.map((button) => (button as HTMLElement).innerText.replace(/\s+/g, " ").trim()));
  expect(shown).toEqual(
    said.map(({ severity, code, message, line, column, help }) =>
      `${severity}[${code}] ${message} ${line}:${column} ${help ?? ""}`.trim(),
    ),
  );
  expect(shown[0]).toContain("did you mean `schedule`?");
  for (const { code, message, help } of said)
    for (const words of [code, message, help ?? ""]) expect(printed).toContain(words);
  expect(await page.locator(".cm-lintRange-error").count()).toBe(3);
  expect(await page.getByRole("button", { name: "Store", exact: true }).isDisabled()).toBe(true);
  // A click goes to the place.
  await page.locator(".problems button").nth(1).click();
  await page.locator(".cm-activeLine", { hasText: "retrys" }).waitFor();
});

it("completes keys and words from the schema", async () => {
  await type("name: x\ntasks:\n  a:\n    run: echo\n    dep");
  await page.keyboard.press("Control+Space");
  await page.locator(".cm-tooltip-autocomplete li:has-text('depends_on')").waitFor();
  await page.keyboard.press("Escape");
  await type("name: x\ntasks:\n  a:\n    run: echo\n    trigger: ");
  await page.keyboard.press("Control+Space");
  await page.locator(".cm-tooltip-autocomplete li:has-text('none_failed')").waitFor();
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
  // Tasks have their new places when the third edge is drawn.
  await page.locator("path.edge").nth(2).waitFor();
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
  await form.getByLabel("Waits for").fill("");
  await form.getByLabel("Waits for").blur();
  await page.waitForFunction(() => !document.querySelector(".cm-content")?.textContent?.includes("depends_on: [a]"));
  // The graph follows too: b waits for nothing.
  await page.waitForFunction(() => document.querySelectorAll("path.edge").length === 1);
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
