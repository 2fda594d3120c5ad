/** The real server, but with more runs and more events than a test can make: those calls are answered here. */
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { freePort } from "./server";

export interface Proxy {
  url: string;
  close: () => void;
}

/** A run as the server would send it. */
export function madeRun(number: number, state = "success"): Record<string, unknown> {
  const at = new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString();
  const counts = {
    total: 3,
    waiting: 0,
    ready: 0,
    running: 0,
    backoff: 0,
    held: 0,
    success: 3,
    failed: 0,
    skipped: 0,
    stopped: 0,
  };
  return {
    id: number.toString(32).toUpperCase().padStart(13, "0"),
    workflow: `made-${number % 50}`,
    version: 1,
    state,
    reason: "it was made up",
    priority: "medium",
    params: {},
    logical_time: at,
    created_at: at,
    started_at: at,
    finished_at: state === "running" ? null : at,
    created_by: "test",
    trigger: { kind: "call" },
    labels: {},
    shard: 0,
    owner: "m",
    epoch: 1,
    job_counts: counts,
  };
}

/** So many runs, and so many events each second. */
export async function proxy(server: string, runs: number, eventsEachSecond: number): Promise<Proxy> {
  const port = await freePort();
  const answer = (asked: IncomingMessage, response: ServerResponse) => {
    const url = new URL(asked.url ?? "/", `http://127.0.0.1:${port}`);
    if (url.pathname === "/api/v1/runs" && asked.method === "GET") {
      const limit = Number(url.searchParams.get("limit") ?? 100);
      const from = Number(url.searchParams.get("cursor") ?? runs);
      const items = Array.from({ length: Math.min(limit, from) }, (_, place) => madeRun(from - place));
      const next = from - items.length;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ items, next_cursor: next > 0 ? String(next) : null }));
    } else if (url.pathname === "/api/v1/events" && eventsEachSecond > 0) {
      response.setHeader("content-type", "text/event-stream");
      let sent = 0;
      const timer = setInterval(() => {
        for (let count = 0; count < eventsEachSecond / 20; count += 1) {
          sent += 1;
          const run = madeRun(runs - (sent % 200), Math.floor(sent / 200) % 2 ? "running" : "success");
          response.write(`event: run\nid: e-${sent}\ndata: ${JSON.stringify(run)}\n\n`);
        }
      }, 50);
      response.once("close", () => clearInterval(timer));
    } else {
      const passed = request(`${server}${asked.url}`, { method: asked.method, headers: asked.headers }, (from) => {
        response.writeHead(from.statusCode ?? 502, from.headers);
        from.pipe(response);
      });
      passed.once("error", () => response.destroy());
      response.once("close", () => passed.destroy());
      asked.pipe(passed);
    }
  };
  const listening: Server = createServer(answer);
  await new Promise<void>((done) => listening.listen(port, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      listening.closeAllConnections();
      listening.close();
    },
  };
}
