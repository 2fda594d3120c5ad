// Writes the types of the REST interface from the project's OpenAPI document; `--check` only compares.
import { readFileSync, writeFileSync } from "node:fs";
import openapi, { astToString } from "openapi-typescript";

const source = new URL("../../docs/reference/openapi.json", import.meta.url);
const target = new URL("../src/api/schema.ts", import.meta.url);
const head = "// Made by `npm run types` from docs/reference/openapi.json.\n\n";
const text = head + astToString(await openapi(JSON.parse(readFileSync(source, "utf8"))));

if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== text) {
    console.error("src/api/schema.ts is not what docs/reference/openapi.json says; run `npm run types`");
    process.exit(1);
  }
} else {
  writeFileSync(target, text);
}
