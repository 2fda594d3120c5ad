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

/** A process of the program that a test may end and start again. */
class Running {
  private child: ChildProcess | undefined;
  private said = "";

  constructor(private readonly args: string[]) {}

  /** Starts it; `ready` is asked until it says so. */
  async start(ready: () => Promise<boolean>): Promise<void> {
    this.said = "";
    const child = spawn(program(), this.args, { stdio: ["ignore", "ignore", "pipe"] });
    child.stderr?.on("data", (bytes) => {
      this.said += bytes;
    });
    this.child = child;
    const until = Date.now() + 30_000;
    while (Date.now() < until && child.exitCode === null) {
      if (await ready().catch(() => false)) return;
      await new Promise((done) => setTimeout(done, 50));
    }
    throw new Error(`${this.args.join(" ")} is not ready: ${this.said}`);
  }

  /** Ends it, at once or as it is asked to. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const child = this.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((done) => child.once("exit", done));
    child.kill(signal);
    await gone;
  }
}

const folder = () => mkdtempSync(join(tmpdir(), "windlass-ui-"));
const answers = async (url: string) => (await fetch(url)).ok;

/** A whole server in one process. */
export class Standalone {
  private readonly running: Running;

  constructor(
    readonly port: number,
    readonly data: string,
    listen = "127.0.0.1",
  ) {
    this.running = new Running(["standalone", "--listen", `${listen}:${port}`, "--data", data, "--slots", "4"]);
  }

  static async fresh(listen?: string): Promise<Standalone> {
    const server = new Standalone(await freePort(), folder(), listen);
    await server.start();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  start(): Promise<void> {
    return this.running.start(() => answers(`${this.url}/readyz`));
  }

  stop(signal?: NodeJS.Signals): Promise<void> {
    return this.running.stop(signal);
  }

  async end(): Promise<void> {
    await this.stop();
    rmSync(this.data, { recursive: true, force: true });
  }
}

/** Masters and workers as processes of their own, over one store. */
export class Apart {
  readonly masters: { url: string; running: Running }[] = [];
  readonly workers: { name: string; running: Running }[] = [];
  private readonly data = folder();

  /** So many masters, and one worker. Several masters need a store that they can share. */
  static async fresh(masters: number, store?: string): Promise<Apart> {
    const apart = new Apart();
    for (let number = 1; number <= masters; number += 1) await apart.addMaster(`m${number}`, store);
    await apart.addWorker("w1");
    return apart;
  }

  private async addMaster(name: string, store = `sqlite:${join(this.data, "store.db")}`): Promise<void> {
    const port = await freePort();
    const where = ["--listen", `127.0.0.1:${port}`, "--data", join(this.data, name), "--store", store];
    const soon = ["--lease-ttl", "3s", "--adoption-grace", "3s"];
    const master = {
      url: `http://127.0.0.1:${port}`,
      running: new Running(["master", "--name", name, ...where, ...soon]),
    };
    this.masters.push(master);
    await this.startMaster(master);
  }

  startMaster(master: { url: string; running: Running }): Promise<void> {
    return master.running.start(() => answers(`${master.url}/readyz`));
  }

  private async addWorker(name: string): Promise<void> {
    const to = this.masters.flatMap(({ url }) => ["--master", url]);
    const args = ["worker", "--name", name, "--data", join(this.data, name), "--slots", "2", ...to];
    const worker = { name, running: new Running(args) };
    this.workers.push(worker);
    await this.startWorker(worker);
  }

  startWorker(worker: { name: string; running: Running }): Promise<void> {
    return worker.running.start(async () => {
      const [master] = this.masters;
      const known = await fetch(`${master?.url}/api/v1/workers/${worker.name}`);
      return known.ok && ((await known.json()) as { state: string }).state === "online";
    });
  }

  async end(): Promise<void> {
    for (const { running } of [...this.workers, ...this.masters]) await running.stop("SIGKILL");
    rmSync(this.data, { recursive: true, force: true });
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await Standalone.fresh();
  project.provide("server", server.url);
  return () => server.end();
}
