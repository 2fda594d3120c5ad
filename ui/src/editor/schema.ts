/** What may stand where in a workflow file, from the published JSON Schema. Pure. */

export interface Schema {
  $ref?: string;
  description?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema | boolean;
  anyOf?: Schema[];
  enum?: unknown[];
  $defs?: Record<string, Schema>;
}

export interface Word {
  label: string;
  detail?: string;
}

/** Every schema that may describe what is at a path. */
function at(root: Schema, schemas: Schema[], path: string[]): Schema[] {
  const open = schemas.flatMap((schema) => alternatives(root, schema));
  const [key, ...rest] = path;
  if (key === undefined) return open;
  const next = open.flatMap((schema): Schema[] => {
    const named = schema.properties?.[key];
    if (named) return [named];
    if (typeof schema.additionalProperties === "object") return [schema.additionalProperties];
    return [];
  });
  return at(root, next, rest);
}

function alternatives(root: Schema, schema: Schema): Schema[] {
  if (schema.$ref) {
    const target = root.$defs?.[schema.$ref.replace("#/$defs/", "")];
    return target ? alternatives(root, target) : [];
  }
  const own = [schema];
  // An item of a list is written at the same depth as a lone one.
  if (typeof schema.items === "object") own.push(...alternatives(root, schema.items));
  return [...own, ...(schema.anyOf ?? []).flatMap((each) => alternatives(root, each))];
}

/** The keys that may stand below a path. */
export function keysAt(root: Schema, path: string[]): Word[] {
  const words = new Map<string, Word>();
  for (const schema of at(root, [root], path)) {
    for (const [label, of] of Object.entries(schema.properties ?? {})) {
      if (!words.has(label)) words.set(label, { label, detail: firstSentence(of.description) });
    }
  }
  return [...words.values()];
}

/** The words that may be the value at a path. */
export function valuesAt(root: Schema, path: string[]): Word[] {
  const values = at(root, [root], path).flatMap((schema) => schema.enum ?? []);
  return [...new Set(values.filter((value) => value !== null).map(String))].map((label) => ({ label }));
}

function firstSentence(text: string | undefined): string | undefined {
  return text?.split(/(?<=\.)\s/)[0];
}

/** The keys above a line, by indentation, outermost first; and the key of the line itself, if it has one. */
export function pathOf(lines: string[], line: number): { above: string[]; key: string | undefined } {
  const own = keyOf(lines[line] ?? "");
  let depth = own.depth;
  const above: string[] = [];
  for (let place = line - 1; place >= 0 && depth > 0; place -= 1) {
    const text = lines[place] ?? "";
    if (!text.trim() || text.trim().startsWith("#")) continue;
    const found = keyOf(text);
    if (found.key !== undefined && found.depth < depth) {
      above.unshift(found.key);
      depth = found.depth;
    }
  }
  return { above, key: own.key };
}

function keyOf(line: string): { key: string | undefined; depth: number } {
  const match = /^(\s*(?:- +)*)(?:(["']?)([\w.-]+)\2\s*:(?:\s|$))?/.exec(line);
  return { key: match?.[3], depth: match?.[1]?.length ?? 0 };
}
