/** What tests share: a browser, calls to the server, pages that complain, pictures. */
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PICTURES = join(import.meta.dirname, "../screenshots");
export const WIDE = { width: 1360, height: 860 };

export function open(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

/** A browser for all tests of a file. */
export function withBrowser(use: (browser: Browser) => void): void {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await open();
    use(browser);
  });
  afterAll(() => browser?.close());
}

/** A browser with one page for all tests of a file; in the end nothing may have complained. */
export function withPage(server: string, use: (page: Page) => void): void {
  let browser: Browser | undefined;
  let watched: Watched | undefined;
  beforeAll(async () => {
    browser = await open();
    watched = await pageOf(browser, server);
    use(watched.page);
  });
  afterAll(async () => {
    await browser?.close();
    expect(watched?.complaints).toEqual([]);
  });
}

/** A page that fails its test when anything complains: scripts, the policy, a request elsewhere. */
export async function pageOf(browser: Browser, server: string, theme: "light" | "dark" = "light"): Promise<Watched> {
  const context = await browser.newContext({
    viewport: WIDE,
    colorScheme: theme,
    baseURL: server,
    timezoneId: "Europe/Oslo",
  });
  // Long enough for a machine on which others work too; what is there is found at once.
  context.setDefaultTimeout(90_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("console", (message) => {
    const text = message.text();
    // That a call was refused or a connection lost is shown on the page; the browser says it too.
    if (message.type() === "error" && !text.startsWith("Failed to load resource")) complaints.push(text);
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(server) && !/^(data|blob):/.test(url)) complaints.push(`request to ${url}`);
  });
  return { page, context, complaints };
}

export interface Watched {
  page: Page;
  context: BrowserContext;
  complaints: string[];
}

/** Presses a button, reads what would happen, and agrees. */
export async function agree(where: Page | Locator, button: string, preview: RegExp, verb = button): Promise<void> {
  await where.getByRole("button", { name: button, exact: true }).first().click();
  await agreed("page" in where ? where.page() : where, preview, verb);
}

/** Reads what would happen in the dialog that is open, and agrees. */
export async function agreed(page: Page, preview: RegExp, verb: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  expect(await dialog.textContent()).toMatch(preview);
  await dialog.getByRole("button", { name: verb, exact: true }).click();
  await dialog.waitFor({ state: "hidden" });
}

/** Waits until something asked of the server is true. */
export async function eventually(what: string, check: () => Promise<boolean>, seconds = 30): Promise<void> {
  const limit = Date.now() + seconds * 1000;
  while (!(await check())) {
    if (Date.now() > limit) throw new Error(`after ${seconds} s it is not so that ${what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** Waits until what was asked for has come and is drawn. */
export async function drawn(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector("[aria-busy=true]") === null);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}

/** What axe finds that keeps somebody out. */
export async function expectAccessible(page: Page): Promise<void> {
  // As a script of the test, not of the page: the page's policy allows none.
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: {
        run: (options: object) => Promise<{
          violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
        }>;
      };
    };
    const { violations } = await axe.run({ resultTypes: ["violations"] });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .flatMap(({ id, nodes }) =>
        nodes.slice(0, 4).map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary}`),
      );
  });
  expect(found).toEqual([]);
}

export async function send(server: string, method: string, path: string, body: unknown = {}): Promise<unknown> {
  const text = typeof body === "string";
  const answer = await fetch(`${server}${path}`, {
    method,
    headers: { "content-type": text ? "application/yaml" : "application/json" },
    body: method === "GET" ? undefined : text ? body : JSON.stringify(body),
  });
  const said = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${said}`);
  return said ? JSON.parse(said) : null;
}

export interface SomeRun {
  id: string;
  state: string;
}

export async function apply(server: string, text: string): Promise<void> {
  const name = /^name: *(\S+)/m.exec(text)?.[1];
  await send(server, "PUT", `/api/v1/workflows/${name}`, text);
}

export async function start(server: string, body: object): Promise<string> {
  return ((await send(server, "POST", "/api/v1/runs", body)) as SomeRun).id;
}

/** Waits until a run is as wanted. */
export async function until(server: string, run: string, states: string[]): Promise<SomeRun> {
  let now: SomeRun | undefined;
  await eventually(`run ${run} is ${states.join(" or ")}`, async () => {
    now = (await send(server, "GET", `/api/v1/runs/${run}`)) as SomeRun;
    return states.includes(now.state);
  });
  return now as SomeRun;
}

/** Waits until a job of a run is as wanted, and says its number. */
export async function untilJob(server: string, run: string, task: string, state: string): Promise<number> {
  await eventually(`${task} of ${run} is ${state}`, async () => (await jobOf(server, run, task)).state === state);
  return (await jobOf(server, run, task)).number;
}

export async function jobOf(server: string, run: string, task: string): Promise<{ number: number; state: string }> {
  const page = (await send(server, "GET", `/api/v1/runs/${run}/jobs?task=${task}`)) as {
    items: { number: number; state: string }[];
  };
  const [job] = page.items;
  if (!job) throw new Error(`run ${run} has no job of ${task}`);
  return job;
}
