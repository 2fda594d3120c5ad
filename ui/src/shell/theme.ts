/** Light or dark: as the system has it until somebody chooses. */
import { useSyncExternalStore } from "react";

export type Theme = "light" | "dark";
const KEY = "windlass.theme";
const listeners = new Set<() => void>();
const system = window.matchMedia("(prefers-color-scheme: dark)");

function current(): Theme {
  const chosen = localStorage.getItem(KEY);
  if (chosen === "light" || chosen === "dark") return chosen;
  return system.matches ? "dark" : "light";
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = current();
  for (const listener of listeners) listener();
}

export function toggleTheme(): void {
  localStorage.setItem(KEY, current() === "dark" ? "light" : "dark");
  applyTheme();
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, current);
}

system.addEventListener("change", applyTheme);
