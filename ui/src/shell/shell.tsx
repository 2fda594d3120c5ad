/** The frame around every page: where one can go, and keys that work everywhere. */
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { createContext, useContext, useMemo, useState } from "react";
import icon from "../icon.svg";
import { useLive } from "../live/context";
import {
  ClusterIcon,
  DocsIcon,
  EditIcon,
  HomeIcon,
  MoonIcon,
  RetryIcon,
  RunsIcon,
  ScheduleIcon,
  SunIcon,
  WorkflowIcon,
} from "../parts/icons";
import { Help } from "./help";
import { useKeys } from "./keys";
import { type Choice, Palette } from "./palette";
import { toggleTheme, useTheme } from "./theme";

const PAGES = [
  { to: "/", label: "Home", key: "h", Icon: HomeIcon },
  { to: "/runs", label: "Runs", key: "r", Icon: RunsIcon },
  { to: "/workflows", label: "Workflows", key: "w", Icon: WorkflowIcon },
  { to: "/schedules", label: "Schedules", key: "s", Icon: ScheduleIcon },
  { to: "/backfills", label: "Backfills", key: "b", Icon: RetryIcon },
  { to: "/cluster", label: "Cluster", key: "k", Icon: ClusterIcon },
  { to: "/editor", label: "Editor", key: "e", Icon: EditIcon },
] as const;

const OpenPalette = createContext<() => void>(() => {});
export const useOpenPalette = () => useContext(OpenPalette);

export function Shell() {
  const navigate = useNavigate();
  const theme = useTheme();
  const { stream, state } = useLive();
  const [shown, setShown] = useState<"palette" | "help" | null>(null);
  const toggleLive = () => (stream.current() === "paused" ? stream.resume() : stream.pause());
  const goes = Object.fromEntries(PAGES.map(({ key, to }) => [`g ${key}`, () => void navigate({ to })]));
  useKeys({
    ...goes,
    "mod+k": () => setShown((now) => (now === "palette" ? null : "palette")),
    "?": () => setShown("help"),
    t: toggleTheme,
    p: toggleLive,
    "/": () => document.querySelector<HTMLElement>("[data-filter]")?.focus(),
  });
  const actions = useMemo<Choice[]>(
    () => [
      ...PAGES.map(({ to, label }) => ({
        id: to,
        label: `Go to ${label}`,
        kind: "page",
        act: () => void navigate({ to }),
      })),
      { id: "theme", label: "Switch between light and dark", kind: "action", act: toggleTheme },
      {
        id: "live",
        label: state === "paused" ? "Resume live updates" : "Pause live updates",
        kind: "action",
        act: () => (stream.current() === "paused" ? stream.resume() : stream.pause()),
      },
      { id: "help", label: "Show all keys", kind: "action", act: () => setShown("help") },
    ],
    [navigate, state, stream],
  );
  return (
    <OpenPalette.Provider value={() => setShown("palette")}>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <div className="shell">
        <nav className="nav" aria-label="Main">
          <Link to="/" className="brand">
            <img src={icon} alt="" />
            Windlass
          </Link>
          {PAGES.map(({ to, label, Icon }) => (
            <Link key={to} to={to} className="nav-link" activeOptions={{ exact: to === "/" }}>
              <Icon />
              {label}
            </Link>
          ))}
          <div className="nav-foot">
            <a className="nav-link" href="/docs/" target="_blank" rel="noreferrer">
              <DocsIcon />
              Documents
            </a>
            <button
              type="button"
              className="nav-link btn quiet"
              style={{ justifyContent: "flex-start", padding: "6px 8px", gap: 10, border: 0 }}
              onClick={toggleTheme}
            >
              {theme === "dark" ? <SunIcon /> : <MoonIcon />}
              {theme === "dark" ? "Light" : "Dark"}
            </button>
          </div>
        </nav>
        <Outlet />
      </div>
      {shown === "palette" && <Palette close={() => setShown(null)} actions={actions} />}
      {shown === "help" && <Help close={() => setShown(null)} />}
    </OpenPalette.Provider>
  );
}
