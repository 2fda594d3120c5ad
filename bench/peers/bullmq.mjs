// BullMQ with Redis: no-op jobs, processes, and latency, with worker and producer in one process.
import { Queue, QueueEvents, Worker } from "bullmq";
import { spawn } from "node:child_process";

const connection = { host: "127.0.0.1", port: Number(process.env.REDIS_PORT), maxRetriesPerRequest: null };
const jobs = Number(process.env.JOBS);
const processes = Number(process.env.PROCESSES);

const run = () =>
  new Promise((done, failed) => {
    const child = spawn("true", [], { stdio: "ignore" });
    child.on("error", failed);
    child.on("close", (code) => (code === 0 ? done(0) : failed(new Error(`exit code ${code}`))));
  });

async function rate(name, count, concurrency, work) {
  const queue = new Queue(name, { connection });
  let left = count;
  let finished;
  const all = new Promise((done) => (finished = done));
  const worker = new Worker(name, work, { connection, concurrency });
  await worker.waitUntilReady();
  worker.on("completed", () => --left === 0 && finished());
  const began = performance.now();
  for (let sent = 0; sent < count; sent += 1000) {
    await queue.addBulk(Array.from({ length: Math.min(1000, count - sent) }, () => ({ name, data: {} })));
  }
  await all;
  const took = (performance.now() - began) / 1000;
  await worker.close();
  await queue.close();
  return count / took;
}

async function latency(count) {
  const queue = new Queue("latency", { connection });
  const delays = [];
  let seen;
  const worker = new Worker("latency", async (job) => seen(performance.now() - job.data.sent), { connection });
  await worker.waitUntilReady();
  for (let i = 0; i < count; i++) {
    const next = new Promise((done) => (seen = done));
    await queue.add("one", { sent: performance.now() });
    delays.push(await next);
    await new Promise((done) => setTimeout(done, 5));
  }
  await worker.close();
  await queue.close();
  return delays.sort((a, b) => a - b);
}

const noop = await rate("noop", jobs, 50, async () => {});
const process_ = await rate("process", processes, 4, run);
const delays = await latency(200);
console.log(
  JSON.stringify({
    peer: "BullMQ + Redis",
    noop,
    process: process_,
    p50: delays[Math.floor(delays.length / 2)],
    p99: delays[Math.floor(delays.length * 0.99)],
    note: "concurrency 50 (4 for processes), bulks of 1,000, appendfsync always",
  }),
);
process.exit(0);
