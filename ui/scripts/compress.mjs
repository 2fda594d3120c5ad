// Makes a build whole: removes files of earlier builds, and writes each file compressed beside itself.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const dist = new URL("../dist/", import.meta.url);
const assets = new URL("assets/", dist);

/** Every asset that the page reaches, directly or through another. */
function reached() {
  const names = readdirSync(assets).filter((name) => !/\.(br|gz)$/.test(name));
  const found = new Set();
  const look = (text) => {
    for (const name of names) {
      if (!found.has(name) && text.includes(name)) {
        found.add(name);
        if (/\.(js|css)$/.test(name)) look(readFileSync(new URL(name, assets), "utf8"));
      }
    }
  };
  look(readFileSync(new URL("index.html", dist), "utf8"));
  return found;
}

const kept = reached();
for (const name of readdirSync(assets)) {
  if (!kept.has(name)) rmSync(new URL(name, assets));
}
for (const name of kept) {
  const bytes = readFileSync(new URL(name, assets));
  const quality = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  writeFileSync(new URL(`${name}.br`, assets), brotliCompressSync(bytes, { params: quality }));
  writeFileSync(new URL(`${name}.gz`, assets), gzipSync(bytes, { level: 9 }));
}
console.log(`${kept.size} files in ui/dist`);
