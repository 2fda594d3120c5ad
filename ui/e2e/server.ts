/** A real `windlass standalone` of its own, for all tests of a run. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    server: string;
  }
}

/** The program: `WINDLASS_BIN`, or what `cargo build` made. */
export function program(): string {
  const target = process.env.CARGO_TARGET_DIR ?? join(import.meta.dirname, "../../target");
  const found = process.env.WINDLASS_BIN ?? join(target, "debug/windlass");
  if (!existsSync(found)) throw new Error(`there is no ${found}; build it with \`cargo build -p windlass\``);
  return found;
}

export async function freePort(): Promise<number> {
  return new Promise((done, failed) => {
    const server = createServer();
    server.once("error", failed);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => done(typeof address === "object" && address ? address.port : 0));
    });
  });
}

/** A server that a test may end and start again. */
export class Standalone {
  private child: ChildProcess | undefined;

  constructor(
    readonly port: number,
    readonly data: string,
    private readonly listen = "127.0.0.1",
  ) {}

  static async fresh(listen?: string): Promise<Standalone> {
    const server = new Standalone(await freePort(), mkdtempSync(join(tmpdir(), "windlass-ui-")), listen);
    await server.start();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const args = ["standalone", "--listen", `${this.listen}:${this.port}`, "--data", this.data, "--slots", "4"];
    const child = spawn(program(), args, { stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr?.on("data", (bytes) => {
      said += bytes;
    });
    this.child = child;
    const until = Date.now() + 20_000;
    while (Date.now() < until) {
      const ready = await fetch(`${this.url}/readyz`).then(
        (answer) => answer.ok,
        () => false,
      );
      if (ready) return;
      if (child.exitCode !== null) break;
      await new Promise((done) => setTimeout(done, 50));
    }
    throw new Error(`the server is not ready: ${said}`);
  }

  /** Ends it, at once or as it is asked to. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const child = this.child;
    if (!child || child.exitCode !== null) return;
    const gone = new Promise((done) => child.once("exit", done));
    child.kill(signal);
    await gone;
  }

  async end(): Promise<void> {
    await this.stop();
    rmSync(this.data, { recursive: true, force: true });
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await Standalone.fresh();
  project.provide("server", server.url);
  return () => server.end();
}
