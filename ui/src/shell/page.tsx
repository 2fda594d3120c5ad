/** What every page has: where it is, whether it is live, and its content. */
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { useLive } from "../live/context";
import type { LiveState } from "../live/stream";
import { Kbd } from "../parts/bits";
import { PauseIcon, PlayIcon, SearchIcon } from "../parts/icons";
import { useOpenPalette } from "./shell";

export interface Crumb {
  label: string;
  to?: string;
}

const WORDS: Record<LiveState, string> = {
  connecting: "Connecting…",
  live: "Live",
  paused: "Paused",
  lost: "Reconnecting…",
  refused: "Not allowed",
};

export function Page({ crumbs, fill = false, children }: { crumbs: Crumb[]; fill?: boolean; children: ReactNode }) {
  const title = crumbs
    .map((crumb) => crumb.label)
    .reverse()
    .join(" · ");
  useEffect(() => {
    document.title = `${title} · Windlass`;
  }, [title]);
  return (
    <div className="main">
      <header className="top">
        <nav aria-label="Where you are" style={{ flex: 1, minWidth: 0 }}>
          <ol className="crumbs">
            {crumbs.map((crumb) => (
              <li key={crumb.label} className="ellipsis">
                {crumb.to ? <Link to={crumb.to}>{crumb.label}</Link> : <span className="ellipsis">{crumb.label}</span>}
              </li>
            ))}
          </ol>
        </nav>
        <OpenSearch />
        <Live />
      </header>
      <main id="content" tabIndex={-1} className={fill ? "content fill" : "content"}>
        {children}
      </main>
    </div>
  );
}

function OpenSearch() {
  const open = useOpenPalette();
  return (
    <button type="button" className="btn quiet small" onClick={open}>
      <SearchIcon size={14} />
      Search <Kbd>⌘K</Kbd>
    </button>
  );
}

function Live() {
  const { stream, state } = useLive();
  const paused = state === "paused";
  return (
    <button
      type="button"
      className="btn quiet small live"
      data-live={state}
      title={paused ? "Go on with live updates" : "Hold everything as it is"}
      onClick={() => (paused ? stream.resume() : stream.pause())}
    >
      <span className="live-dot" />
      <span aria-live="polite">{WORDS[state]}</span>
      {paused ? <PlayIcon size={13} /> : <PauseIcon size={13} />}
    </button>
  );
}
