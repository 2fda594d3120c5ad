/** What tests share: a browser, calls to the server, pages that complain, pictures. */
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { expect } from "vitest";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PICTURES = join(import.meta.dirname, "../screenshots");
export const WIDE = { width: 1360, height: 860 };

export function open(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

/** A page that fails its test when anything complains: scripts, the policy, a request elsewhere. */
export async function pageOf(browser: Browser, server: string, theme: "light" | "dark" = "light"): Promise<Watched> {
  const context = await browser.newContext({
    viewport: WIDE,
    colorScheme: theme,
    baseURL: server,
    timezoneId: "Europe/Oslo",
  });
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
  const limit = Date.now() + 30_000;
  for (;;) {
    const now = (await send(server, "GET", `/api/v1/runs/${run}`)) as SomeRun;
    if (states.includes(now.state)) return now;
    if (Date.now() > limit) throw new Error(`run ${run} is ${now.state}, not ${states.join(" or ")}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

export async function jobOf(server: string, run: string, task: string): Promise<{ number: number; state: string }> {
  const page = (await send(server, "GET", `/api/v1/runs/${run}/jobs?task=${task}`)) as {
    items: { number: number; state: string }[];
  };
  const [job] = page.items;
  if (!job) throw new Error(`run ${run} has no job of ${task}`);
  return job;
}
