/** The one place where calls are made. Types come from the project's OpenAPI document. */
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema";
import { token } from "./token";

export type Shapes = components["schemas"];

/** What the server refused, or that it cannot be reached, with a way out where there is one. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | null;
  readonly diagnostics: Shapes["Diagnostic"][];

  constructor(status: number, problem: Partial<Shapes["Problem"]>) {
    super(problem.detail ?? problem.title ?? `the server answered with status ${status}`);
    this.status = status;
    this.code = problem.code ?? "unexpected";
    this.hint = problem.hint ?? null;
    this.diagnostics = problem.diagnostics ?? [];
  }
}

/** Heads for whatever is sent. */
export function authorization(): Record<string, string> {
  const secret = token();
  return secret ? { authorization: `Bearer ${secret}` } : {};
}

const login: Middleware = {
  onRequest({ request }) {
    for (const [name, value] of Object.entries(authorization())) request.headers.set(name, value);
    // A call that changes something says what its body is, also when it has none.
    if (request.method !== "GET" && !request.headers.has("content-type"))
      request.headers.set("content-type", "application/json");
    return request;
  },
};

export const client = createClient<paths>({ baseUrl: "" });
client.use(login);

interface Answered<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The answer, or what was refused as an error. */
export async function answer<T>(asked: Promise<Answered<T>>): Promise<T> {
  let answered: Answered<T>;
  try {
    answered = await asked;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Refused(0, {
      code: "unreachable",
      detail: "the server cannot be reached",
      hint: "it is tried again; is the server running?",
    });
  }
  const { data, error, response } = answered;
  if (response.ok) return data as T;
  const problem = typeof error === "object" && error !== null ? (error as Partial<Shapes["Problem"]>) : {};
  throw new Refused(response.status, problem);
}

export function refusal(error: unknown): Refused {
  if (error instanceof Refused) return error;
  return new Refused(0, { code: "unexpected", detail: error instanceof Error ? error.message : String(error) });
}
