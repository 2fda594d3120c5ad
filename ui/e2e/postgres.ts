/** A PostgreSQL server of a test's own, for several masters. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./server";

/** Where Debian keeps the server's own programs. */
const INSTALLED = "/usr/lib/postgresql";

function programs(): string {
  const versions = existsSync(INSTALLED) ? readdirSync(INSTALLED).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions
    .map((version) => join(INSTALLED, version, "bin"))
    .find((path) => existsSync(join(path, "initdb")));
  if (!found) throw new Error("PostgreSQL is not installed; `make setup` does it");
  return found;
}

/** It does not run as root. */
const isRoot = process.getuid?.() === 0;
const asItself = (program: string, args: string[]): [string, string[]] =>
  isRoot ? ["setpriv", ["--reuid=postgres", "--regid=postgres", "--clear-groups", program, ...args]] : [program, args];

export class Postgres {
  private constructor(
    private readonly folder: string,
    private readonly server: ChildProcess,
    readonly url: string,
  ) {}

  static async fresh(): Promise<Postgres> {
    const folder = mkdtempSync(join(tmpdir(), "windlass-ui-postgres-"));
    if (isRoot) execFileSync("chown", ["postgres:postgres", folder]);
    const data = join(folder, "data");
    const made = ["--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--username=windlass", "-D", data];
    execFileSync(...asItself(join(programs(), "initdb"), made), { stdio: "pipe" });
    const port = await freePort();
    const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", `port=${port}`];
    const args = ["-D", data, ...settings.flatMap((setting) => ["-c", setting])];
    const server = spawn(...asItself(join(programs(), "postgres"), args), { stdio: "ignore" });
    const postgres = new Postgres(folder, server, `postgres://windlass@127.0.0.1:${port}/postgres`);
    const until = Date.now() + 30_000;
    while (Date.now() < until && server.exitCode === null) {
      if (await reached(port)) return postgres;
      await new Promise((done) => setTimeout(done, 50));
    }
    await postgres.end();
    throw new Error("PostgreSQL is not ready");
  }

  async end(): Promise<void> {
    if (this.server.exitCode === null) {
      const gone = new Promise((done) => this.server.once("exit", done));
      this.server.kill("SIGINT");
      await gone;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function reached(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => socket.end(() => done(true)));
    socket.once("error", () => done(false));
  });
}
