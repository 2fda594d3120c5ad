// graphile-worker with PostgreSQL: no-op jobs, processes, and latency.
import { run, makeWorkerUtils } from "graphile-worker";
import { spawn } from "node:child_process";
import pg from "pg";

const connectionString = process.env.DATABASE_URL;
const jobs = Number(process.env.JOBS);
const processes = Number(process.env.PROCESSES);
const pool = new pg.Pool({ connectionString, max: 20 });
const BULK = 1000;

const spawned = () =>
  new Promise((done, failed) => {
    const child = spawn("true", [], { stdio: "ignore" });
    child.on("error", failed);
    child.on("close", (code) => (code === 0 ? done() : failed(new Error(`exit code ${code}`))));
  });

let seen = () => {};
const taskList = {
  noop: async () => {},
  process: spawned,
  stamp: async (payload) => seen(performance.now() - payload.sent),
};

const quiet = () => () => {};
const { Logger } = await import("graphile-worker");
const logger = new Logger(quiet);

async function rate(task, count, preset) {
  const utils = await makeWorkerUtils({ pgPool: pool, logger });
  await utils.migrate();
  const began = performance.now();
  for (let added = 0; added < count; added += BULK) {
    await utils.addJobs(Array.from({ length: Math.min(BULK, count - added) }, () => ({ identifier: task, payload: {} })));
  }
  const runner = await run({ pgPool: pool, taskList, logger, noHandleSignals: true, preset });
  for (;;) {
    const { rows } = await pool.query("select exists (select from graphile_worker._private_jobs) as left");
    if (!rows[0].left) break;
    await new Promise((done) => setTimeout(done, 20));
  }
  const took = (performance.now() - began) / 1000;
  await runner.stop();
  await utils.release();
  return count / took;
}

async function latency(count) {
  const utils = await makeWorkerUtils({ pgPool: pool, logger });
  const runner = await run({ pgPool: pool, taskList, logger, noHandleSignals: true, preset: { worker: { concurrentJobs: 4 } } });
  const delays = [];
  for (let i = 0; i < count; i++) {
    const next = new Promise((done) => (seen = done));
    await utils.addJob("stamp", { sent: performance.now() });
    delays.push(await next);
    await new Promise((done) => setTimeout(done, 5));
  }
  await runner.stop();
  await utils.release();
  return delays.sort((a, b) => a - b);
}

const local = { worker: { concurrentJobs: 24, localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } };
const noop = await rate("noop", jobs, local);
const process_ = await rate("process", processes, { worker: { concurrentJobs: 4 } });
const delays = await latency(200);
console.log(
  JSON.stringify({
    peer: "graphile-worker + PostgreSQL",
    noop,
    noop_postgres: noop,
    process: process_,
    p50: delays[Math.floor(delays.length / 2)],
    p99: delays[Math.floor(delays.length * 0.99)],
    note: "24 at once from a local queue of 500 (4 at once for processes), batched completion",
  }),
);
process.exit(0);
