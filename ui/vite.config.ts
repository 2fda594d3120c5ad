import react from "@vitejs/plugin-react";
import type { ProxyOptions } from "vite";
import { defineConfig } from "vitest/config";

/** Where `npm run dev` finds a server. */
const server = process.env.WINDLASS_SERVER ?? "http://127.0.0.1:8000";

/** Calls of the page as the server's own page would make them: it refuses those of other origins. */
function toServer(): ProxyOptions {
  return {
    target: server,
    configure: (proxy) =>
      proxy.on("proxyReq", (request) => {
        request.removeHeader("origin");
        request.removeHeader("sec-fetch-site");
      }),
  };
}

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "dist",
    // The folder keeps a `.gitignore` so that it is always there; scripts/compress.mjs removes what is old.
    emptyOutDir: false,
    assetsInlineLimit: 0,
    // A module is fetched when it is needed; a polyfill would be an inline script.
    modulePreload: { polyfill: false },
    target: "es2022",
    reportCompressedSize: false,
    // Older files stay in dist until the new ones are written, so names must tell contents apart.
    rolldownOptions: {
      output: {
        entryFileNames: "assets/[name]-[hash].js",
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
  server: { proxy: { "/api": toServer(), "/docs": toServer(), "/scheduler": toServer() } },
  test: {
    projects: [
      { extends: true, test: { name: "unit", include: ["src/**/*.test.ts"] } },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["e2e/**/*.test.ts"],
          globalSetup: ["e2e/server.ts"],
          // Each wait in a test has a limit of its own; together they may take long where others work too.
          testTimeout: 240_000,
          hookTimeout: 120_000,
          expect: { poll: { timeout: 30_000 } },
          fileParallelism: false,
        },
      },
    ],
  },
});
