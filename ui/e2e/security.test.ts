/** Nothing that a workflow, a parameter, an output or a log says becomes code, and who has no token sees nothing. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { expect, inject, it } from "vitest";
import { Standalone } from "./server";
import { apply, jobOf, pageOf, send, start, until, withBrowser } from "./world";

const server = inject("server");
let browser: Browser;

withBrowser((opened) => {
  browser = opened;
});

const EVIL = `<img src=x onerror="window.hacked=1"><script>window.hacked=2</script>`;
const WORKFLOW = `name: evil
description: ${JSON.stringify(EVIL)}
labels: {team: ${JSON.stringify(EVIL)}}
params: {text: {type: string, default: ${JSON.stringify(EVIL)}, description: ${JSON.stringify(EVIL)}}}
tasks:
  a:
    description: ${JSON.stringify(EVIL)}
    run: |
      echo "\${{ params.text }}"
      printf '\\033]8;;javascript:alert(1)\\033\\\\link\\033]8;;\\033\\\\\\n'
      printf 'out=%s\\n' "\${{ params.text }}" >> "$WINDLASS_OUTPUT"
`;

it("shows hostile text as text, everywhere", async () => {
  await apply(server, WORKFLOW);
  const run = await start(server, { workflow: "evil", labels: { [EVIL.slice(0, 90)]: EVIL } });
  await until(server, run, ["success"]);
  const token = (await send(server, "POST", "/api/v1/tokens", { name: EVIL.slice(0, 60), role: "viewer" })) as {
    id: string;
  };
  const { page, context, complaints } = await pageOf(browser, server);
  const job = (await jobOf(server, run, "a")).number;
  for (const path of [
    "/",
    "/runs",
    `/runs/${run}?job=${job}`,
    `/runs/${run}?tab=details`,
    `/runs/${run}?tab=timeline`,
    `/runs/${run}/jobs/${job}/log`,
    "/workflows",
    "/workflows/evil",
    "/workflows/evil?tab=yaml",
    "/workflows/evil?tab=runs",
    "/cluster?tab=tokens",
    "/cluster?tab=workers",
    `/runs/${run}?tab=jobs&task=${encodeURIComponent(EVIL)}`,
    `/schedules/${encodeURIComponent(EVIL)}`,
    `/backfills?workflow=${encodeURIComponent(EVIL)}&from=${encodeURIComponent(EVIL)}`,
    "/workflows/evil/start",
    "/editor?workflow=evil",
    `/runs?workflow=${encodeURIComponent(EVIL)}`,
    `/workflows/${encodeURIComponent(EVIL)}`,
    `/runs/${encodeURIComponent(EVIL)}`,
  ]) {
    await page.goto(path);
    await page.locator("#content").waitFor();
    // Everything that the page asks for has come, so everything is drawn.
    await page.locator("[data-live=live]").waitFor();
    await page.waitForFunction(() => document.querySelector("[aria-busy=true]") === null);
    expect(await page.evaluate(() => (window as { hacked?: number }).hacked), path).toBeUndefined();
    expect(await page.locator("#content img, #content script").count(), path).toBe(0);
    expect(await page.locator("a[href^='javascript:']").count(), path).toBe(0);
  }
  await page.goto(`/runs/${run}?tab=details`);
  await page.getByText(EVIL).first().waitFor();
  await page.goto(`/runs/${run}/jobs/${job}/log`);
  await page.locator("[data-line='1']", { hasText: "<img src=x" }).waitFor();
  // What was given lately is offered as text, also to the form of the next start.
  await page.goto("/workflows/evil/start");
  await page.getByRole("button", { name: EVIL }).click();
  expect(await page.getByLabel("text", { exact: false }).first().inputValue()).toBe(EVIL);
  await page.goto("/cluster?tab=tokens");
  await page.getByRole("row", { name: /<img src=x/ }).waitFor();
  // The editor says a hostile key back, as text too.
  await page.goto("/editor");
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(`name: x\n${JSON.stringify(EVIL)}: 1\ntasks: {a: {type: noop}}\n`);
  await page.locator(".problems button", { hasText: "<img src=x" }).first().waitFor();
  expect(await page.locator("#content img, #content script").count()).toBe(0);
  expect(await page.evaluate(() => (window as { hacked?: number }).hacked)).toBeUndefined();
  await send(server, "DELETE", `/api/v1/tokens/${token.id}`);
  expect(complaints).toEqual([]);
  await context.close();
});

it("has a policy that an injected script does not pass", async () => {
  const { page, context } = await pageOf(browser, server);
  const answer = await page.goto("/");
  const policy = answer?.headers()["content-security-policy"] ?? "";
  expect(policy).toContain("default-src 'none'; script-src 'self';");
  expect(policy).not.toContain("unsafe");
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.hacked = 3";
    document.body.append(script);
    const style = document.createElement("style");
    style.textContent = "body { color: rgb(1, 2, 3) }";
    document.head.append(style);
  });
  expect(await page.evaluate(() => (window as { hacked?: number }).hacked)).toBeUndefined();
  expect(await page.evaluate(() => getComputedStyle(document.body).color)).not.toBe("rgb(1, 2, 3)");
  await context.close();
});

it("asks for a token where the server wants one", async () => {
  const own = await Standalone.fresh("0.0.0.0");
  try {
    const { page, context, complaints } = await pageOf(browser, own.url);
    await page.goto("/runs");
    await page.waitForURL(/\/login$/);
    await page.getByLabel("Token").fill("wrong");
    await page.getByRole("button", { name: "Enter" }).click();
    await page.getByRole("alert").getByText("unauthenticated").waitFor();
    await page.getByLabel("Token").fill(readFileSync(join(own.data, "admin-token"), "utf8").trim());
    await page.getByRole("button", { name: "Enter" }).click();
    await page.getByText("Nothing here yet. What first?").waitFor();
    await page.locator("[data-live=live]").waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  } finally {
    await own.end();
  }
});
