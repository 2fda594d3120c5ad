/** What a run can be given, as a form needs it. Pure. */
export interface ParamSpec {
  name: string;
  type: string;
  description?: string;
  /** What it is if nobody says; `undefined` where somebody must. */
  default?: unknown;
  choices: unknown[];
}

export function paramsOf(definition: Record<string, unknown>): ParamSpec[] {
  const params = definition.params;
  if (typeof params !== "object" || params === null) return [];
  return Object.entries(params).map(([name, form]) => specOf(name, form));
}

function specOf(name: string, form: unknown): ParamSpec {
  // The short form is a default alone.
  if (typeof form !== "object" || form === null || Array.isArray(form))
    return { name, type: typeOf(form), default: form, choices: [] };
  const { type, default: value, description, choices } = form as Record<string, unknown>;
  return {
    name,
    type: typeof type === "string" ? type : typeOf(value),
    description: typeof description === "string" ? description : undefined,
    default: value,
    choices: Array.isArray(choices) ? choices : [],
  };
}

function typeOf(value: unknown): string {
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  if (Array.isArray(value)) return "list";
  return typeof value === "object" && value !== null ? "object" : "string";
}

/** What was typed as a value: only what differs from the default is sent, and text is read by the server. */
export function valuesOf(specs: ParamSpec[], typed: Record<string, string>): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const spec of specs) {
    const text = typed[spec.name];
    if (text === undefined || text === shown(spec.default)) continue;
    values[spec.name] = spec.type === "list" || spec.type === "object" ? JSON.parse(text) : text;
  }
  return values;
}

/** A value as a field shows it. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
