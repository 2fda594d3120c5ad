/** Short words about what was just done, in a corner. */
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";
import { CheckIcon, CrossIcon } from "./icons";
import { Problem } from "./problem";

interface Toast {
  id: number;
  body: ReactNode;
}

interface Toasts {
  done: (text: string) => void;
  failed: (error: unknown) => void;
}

const Context = createContext<Toasts | null>(null);
const SHOWN_MS = 5000;
let last = 0;

export function ToastProvider({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const close = useCallback((id: number) => setToasts((all) => all.filter((each) => each.id !== id)), []);
  const add = useCallback((body: ReactNode) => {
    last += 1;
    const id = last;
    setToasts((all) => [...all.slice(-3), { id, body }]);
    return id;
  }, []);
  const value = useMemo<Toasts>(
    () => ({
      done: (text) => {
        const id = add(
          <div className="notice">
            <CheckIcon className="tone-ok" />
            <div>{text}</div>
          </div>,
        );
        setTimeout(() => close(id), SHOWN_MS);
      },
      // What went wrong stays until somebody has read it.
      failed: (error) => {
        add(<Problem error={error} />);
      },
    }),
    [add, close],
  );
  return (
    <Context.Provider value={value}>
      {children}
      <section className="toasts" aria-live="polite" aria-label="Messages">
        {toasts.map((toast) => (
          <div key={toast.id} className="row">
            <div style={{ flex: 1 }}>{toast.body}</div>
            <button
              type="button"
              className="btn icon small"
              aria-label="Close this message"
              onClick={() => close(toast.id)}
            >
              <CrossIcon size={14} />
            </button>
          </div>
        ))}
      </section>
    </Context.Provider>
  );
}

export function useToasts(): Toasts {
  const toasts = useContext(Context);
  if (!toasts) throw new Error("there is no place for messages around this");
  return toasts;
}
