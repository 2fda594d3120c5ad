import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Refused } from "./api/client";
import { LiveContext } from "./live/context";
import { LiveStream } from "./live/stream";
import { nonce } from "./nonce";
import { ToastProvider } from "./parts/toasts";
import { router } from "./routes";
import { applyTheme } from "./shell/theme";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/views.css";

// Dialogs make a style while they are open; the server's policy wants the page's nonce on it.
setNonce(nonce());
applyTheme();

/** Who is not let in is asked for a token. */
function refused(error: unknown): void {
  if (error instanceof Refused && error.status === 401) void router.navigate({ to: "/login" });
}

const queries = new QueryClient({
  queryCache: new QueryCache({ onError: refused }),
  mutationCache: new MutationCache({ onError: refused }),
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // What the server refuses it refuses again; what it cannot answer now it can soon.
      retry: (count, error) => !(error instanceof Refused && error.status >= 400 && error.status < 500) && count < 4,
      retryDelay: (count) => Math.min(400 * 2 ** count, 5000),
      refetchOnWindowFocus: true,
    },
  },
});

const stream = new LiveStream(queries);
stream.start();

const place = document.getElementById("root");
if (!place) throw new Error("the page has no place for the UI");
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <LiveContext.Provider value={stream}>
        <ToastProvider>
          <RouterProvider router={router} context={{ queries }} />
        </ToastProvider>
      </LiveContext.Provider>
    </QueryClientProvider>
  </StrictMode>,
);
