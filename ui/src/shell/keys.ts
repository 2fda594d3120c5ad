/** Keys that work everywhere, and those of the page that is shown. */
import { useEffect, useRef } from "react";

export type Keys = Record<string, () => void>;

/** After `g` the second key must come within this. */
const SEQUENCE_MS = 1200;

/** Whether keys are for typing now. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

/** The name of a key press: `mod+k`, `?`, `Escape`. */
function nameOf(event: KeyboardEvent): string {
  return event.metaKey || event.ctrlKey ? `mod+${event.key.toLowerCase()}` : event.key;
}

/** Has keys do things while the caller is on screen. `g r` is two keys after each other. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    let first: { key: string; at: number } | undefined;
    const pressed = (event: KeyboardEvent) => {
      const name = nameOf(event);
      const always = name.startsWith("mod+");
      if (event.defaultPrevented || event.altKey) return;
      if (!always && (isTyping(event.target) || document.querySelector("[role=dialog]"))) return;
      const before = first && Date.now() - first.at < SEQUENCE_MS ? `${first.key} ${name}` : undefined;
      const act = (before ? latest.current[before] : undefined) ?? latest.current[name];
      first = undefined;
      if (act) {
        event.preventDefault();
        act();
      } else if (name === "g") {
        first = { key: name, at: Date.now() };
      }
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
}
