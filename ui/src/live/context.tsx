import { createContext, useContext, useSyncExternalStore } from "react";
import type { LiveState, LiveStream } from "./stream";

export const LiveContext = createContext<LiveStream | null>(null);

export function useLive(): { stream: LiveStream; state: LiveState } {
  const stream = useContext(LiveContext);
  if (!stream) throw new Error("there is no live stream around this");
  const state = useSyncExternalStore(stream.subscribe, stream.current);
  return { stream, state };
}
