/** A little world to look at: workflows of every kind, runs in every state. */
import { apply, send, start, until, untilJob } from "./world";

export const SALES = `name: nightly-sales
description: Load yesterday's sales and publish the report.
labels: {team: data}
schedule: {cron: "0 3 * * 1-5", timezone: Europe/Oslo, id: nightly}
params:
  day: {type: date, default: "2026-11-17", description: Which day.}
  dry_run: false
  region: {type: string, default: north, choices: [north, south]}
tasks:
  extract:
    description: Reads the warehouse.
    run: |
      printf '\\033[1;32mextracting\\033[0m %s\\n' "\${{ params.day }}"
      for i in 1 2 3 4 5; do echo "row $i"; done
      echo "a warning" >&2
      echo "rows=12" >> "$WINDLASS_OUTPUT"
  check: {depends_on: [extract], run: 'echo "bad=0" >> "$WINDLASS_OUTPUT"'}
  shard:
    depends_on: [check]
    foreach: {items: [0, 1, 2, 3]}
    run: 'sleep 0.1; echo "shard \${{ item }}"'
  enrich: {depends_on: [check], run: sleep 0.2}
  publish: {depends_on: [shard, enrich], run: echo published}
finally: {cleanup: {run: echo clean}}
`;

export const FLAKY = `name: flaky-import
description: Fails at its second task until somebody mends it.
tasks:
  fetch: {run: echo fetched}
  parse:
    depends_on: [fetch]
    run: |
      echo "parsing"
      echo "no such column: price" >&2
      exit 3
  store: {depends_on: [parse], run: echo stored}
`;

export const GATE = `name: release
description: Waits for somebody's approval before it deploys.
tasks:
  build: {run: echo built}
  gate: {depends_on: [build], type: approve}
  deploy: {depends_on: [gate], run: echo deployed}
`;

export const SLOW = `name: long-haul
description: Takes its time.
tasks:
  drive: {run: 'for i in $(seq 1 600); do echo "mile $i"; sleep 0.2; done'}
  rest: {depends_on: [drive], run: echo rested}
  nowhere: {run: echo never, group: no-such-group}
`;

/** Needs the sales, and is needed by what sums the year up. */
const MONTH = `name: monthly-report
tasks: {sales: {type: workflow, with: {workflow: nightly-sales}}}
`;
const YEAR = `name: yearly-report
tasks: {months: {type: workflow, with: {workflow: monthly-report}}}
`;

export interface Seeded {
  done: string;
  failed: string;
  held: string;
  slow: string;
}

export async function seed(server: string): Promise<Seeded> {
  for (const text of [SALES, FLAKY, GATE, SLOW, MONTH, YEAR]) await apply(server, text);
  // A second version, to compare.
  await apply(server, SALES.replace("echo published", "echo published twice"));
  await send(server, "PUT", "/api/v1/pools/warehouse", { limit: 3 });
  const runs: string[] = [];
  for (let count = 0; count < 4; count += 1)
    runs.push(await start(server, { workflow: "nightly-sales", params: { day: `2026-11-1${count}` } }));
  const failed = await start(server, { workflow: "flaky-import" });
  const held = await start(server, { workflow: "release" });
  const slow = await start(server, { workflow: "long-haul" });
  for (const run of runs) await until(server, run, ["success"]);
  await until(server, failed, ["failed"]);
  await untilJob(server, held, "gate", "held");
  return { done: runs.at(-1) ?? "", failed, held, slow };
}
