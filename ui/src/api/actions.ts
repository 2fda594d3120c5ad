/** What a person can have done. Each returns what the server answers; live updates tell the rest. */
import { answer, client, type Shapes } from "./client";
import type { Backfill, CreateBackfill, Role } from "./queries";

export type RunVerb = "stop" | "pause" | "resume" | "recover" | "rerun";
export type BackfillVerb = "pause" | "resume" | "stop";
export type JobVerb = "retry" | "force-success" | "approve" | "reject";

/** Names a wish, so that a repeat after a lost answer is no second one. */
function key(): { "Idempotency-Key": string } {
  return { "Idempotency-Key": crypto.randomUUID() };
}

export function controlRun(run: string, verb: RunVerb): Promise<Shapes["Run"]> {
  const path = { run };
  switch (verb) {
    case "stop":
      return answer(client.POST("/api/v1/runs/{run}:stop", { params: { path } }));
    case "pause":
      return answer(client.POST("/api/v1/runs/{run}:pause", { params: { path } }));
    case "resume":
      return answer(client.POST("/api/v1/runs/{run}:resume", { params: { path } }));
    case "recover":
      return answer(client.POST("/api/v1/runs/{run}:recover", { params: { path } }));
    case "rerun":
      return answer(client.POST("/api/v1/runs/{run}:rerun", { params: { path, header: key() } }));
  }
}

export function controlJob(run: string, job: number, verb: JobVerb, comment?: string): Promise<Shapes["Run"]> {
  const path = { run, job };
  const body = comment ? { comment } : {};
  switch (verb) {
    case "retry":
      return answer(client.POST("/api/v1/runs/{run}/jobs/{job}:retry", { params: { path } }));
    case "force-success":
      return answer(client.POST("/api/v1/runs/{run}/jobs/{job}:force-success", { params: { path } }));
    case "approve":
      return answer(client.POST("/api/v1/runs/{run}/jobs/{job}:approve", { params: { path }, body }));
    case "reject":
      return answer(client.POST("/api/v1/runs/{run}/jobs/{job}:reject", { params: { path }, body }));
  }
}

export function startRun(body: Shapes["CreateRun"]): Promise<Shapes["Run"]> {
  return answer(client.POST("/api/v1/runs", { params: { header: key() }, body }));
}

const yaml = { "content-type": "application/yaml" };
/** The text as it is: the generated types know only objects. */
const asText = (text: string) => ({ body: text as never, bodySerializer: (body: unknown) => body as string });

export function validate(text: string, signal?: AbortSignal): Promise<Shapes["Validation"]> {
  return answer(
    client.POST("/api/v1/workflows:validate", {
      params: { query: { graph: true } },
      headers: yaml,
      ...asText(text),
      signal,
    }),
  );
}

/** What a crontab of this machine's zone would be; nothing is stored. */
export function importCrontab(text: string, signal?: AbortSignal): Promise<Shapes["ImportedCrontab"]> {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return answer(client.POST("/api/v1/import/crontab", { body: { text, timezone: timeZone }, signal }));
}

export function applyWorkflow(name: string, text: string): Promise<Shapes["Applied"]> {
  return answer(
    client.PUT("/api/v1/workflows/{workflow}", {
      params: { path: { workflow: name } },
      headers: yaml,
      ...asText(text),
    }),
  );
}

export function enableWorkflow(name: string, on: boolean): Promise<Shapes["WorkflowSummary"]> {
  const params = { path: { workflow: name } };
  return on
    ? answer(client.POST("/api/v1/workflows/{workflow}:enable", { params }))
    : answer(client.POST("/api/v1/workflows/{workflow}:disable", { params }));
}

export async function deleteWorkflow(name: string): Promise<void> {
  await answer(client.DELETE("/api/v1/workflows/{workflow}", { params: { path: { workflow: name } } }));
}

export function pauseSchedule(id: string, paused: boolean): Promise<Shapes["Schedule"]> {
  const params = { path: { schedule: id } };
  return paused
    ? answer(client.POST("/api/v1/schedules/{schedule}:pause", { params }))
    : answer(client.POST("/api/v1/schedules/{schedule}:resume", { params }));
}

/** The answer is a plan only if one was asked for. */
export function startBackfill(wanted: CreateBackfill): Promise<Backfill> {
  const body = wanted as Shapes["CreateBackfill"];
  return answer(client.POST("/api/v1/backfills", { params: { header: key() }, body })) as Promise<Backfill>;
}

export function controlBackfill(id: string, verb: BackfillVerb): Promise<Backfill> {
  const params = { path: { backfill: id } };
  switch (verb) {
    case "pause":
      return answer(client.POST("/api/v1/backfills/{backfill}:pause", { params }));
    case "resume":
      return answer(client.POST("/api/v1/backfills/{backfill}:resume", { params }));
    case "stop":
      return answer(client.POST("/api/v1/backfills/{backfill}:stop", { params }));
  }
}

export function drainWorker(id: string, drain: boolean): Promise<Shapes["Worker"]> {
  const params = { path: { worker: id } };
  return drain
    ? answer(client.POST("/api/v1/workers/{worker}:drain", { params }))
    : answer(client.POST("/api/v1/workers/{worker}:resume", { params }));
}

export function switchScheduler(on: boolean): Promise<unknown> {
  return on ? answer(client.POST("/scheduler/start", {})) : answer(client.POST("/scheduler/stop", {}));
}

export function setPool(name: string, limit: number): Promise<Shapes["Pool"]> {
  return answer(client.PUT("/api/v1/pools/{pool}", { params: { path: { pool: name } }, body: { limit } }));
}

export async function deletePool(name: string): Promise<void> {
  await answer(client.DELETE("/api/v1/pools/{pool}", { params: { path: { pool: name } } }));
}

export function createToken(name: string, role: Role): Promise<Shapes["CreatedToken"]> {
  return answer(client.POST("/api/v1/tokens", { params: { header: key() }, body: { name, role } }));
}

export async function revokeToken(id: string): Promise<void> {
  await answer(client.DELETE("/api/v1/tokens/{token}", { params: { path: { token: id } } }));
}
