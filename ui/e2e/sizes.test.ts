/** What a browser must load. Measured on the build that is in `dist/`. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const DIST = join(import.meta.dirname, "../dist");
const KB = 1000;
const size = (name: string) => statSync(join(DIST, "assets", name)).size;
const page = readFileSync(join(DIST, "index.html"), "utf8");
const scripts = readdirSync(join(DIST, "assets")).filter((name) => name.endsWith(".js"));

it("loads at most 180 KB of scripts first, compressed with gzip", () => {
  const first = scripts.filter((name) => page.includes(name));
  expect(first.length).toBeGreaterThan(0);
  const bytes = first.reduce((sum, name) => sum + size(`${name}.gz`), 0);
  console.log(`first load: ${Math.round(bytes / KB)} KB gzip`);
  expect(bytes).toBeLessThanOrEqual(180 * KB);
});

it("has no later part above 170 KB", () => {
  for (const name of scripts) expect(size(`${name}.gz`), name).toBeLessThanOrEqual(170 * KB);
});

it("has at most 600 KB altogether, compressed with brotli", () => {
  const all = readdirSync(join(DIST, "assets")).filter((name) => name.endsWith(".br"));
  const bytes = all.reduce((sum, name) => sum + size(name), 0);
  console.log(`everything: ${Math.round(bytes / KB)} KB brotli`);
  expect(bytes).toBeLessThanOrEqual(600 * KB);
});

it("has no inline script and names no other host", () => {
  expect(page).not.toMatch(/<script(?![^>]*\ssrc=)/);
  expect(page).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
});
