/**
 * Server-sent events over `fetch`: unlike `EventSource` it can carry a token, and says why it was refused.
 */
import { authorization, Refused } from "../api/client";

export interface SentEvent {
  name: string;
  id: string;
  data: string;
}

/** Cuts a stream of text into events; keeps what is not complete yet. */
export class EventCutter {
  private rest = "";

  push(text: string): SentEvent[] {
    this.rest += text;
    const blocks = this.rest.split("\n\n");
    this.rest = blocks.pop() ?? "";
    return blocks.map(parse).filter((event) => event !== null);
  }
}

function parse(block: string): SentEvent | null {
  const event: SentEvent = { name: "message", id: "", data: "" };
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const value = line.slice(colon + 1).replace(/^ /, "");
    const field = line.slice(0, colon);
    if (field === "event") event.name = value;
    else if (field === "id") event.id = value;
    else if (field === "data") data.push(value);
  }
  if (data.length === 0) return null;
  event.data = data.join("\n");
  return event;
}

/** Reads events until the stream ends, is broken or is given up. */
export async function readEvents(
  url: string,
  signal: AbortSignal,
  heads: { lastId?: string; opened?: () => void },
  tell: (events: SentEvent[]) => void,
): Promise<void> {
  const headers: Record<string, string> = { accept: "text/event-stream", ...authorization() };
  if (heads.lastId) headers["last-event-id"] = heads.lastId;
  const response = await fetch(url, { headers, signal, cache: "no-store" });
  if (!response.ok || !response.body) {
    const problem = await response.json().catch(() => ({}));
    throw new Refused(response.status, problem);
  }
  heads.opened?.();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const cutter = new EventCutter();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = cutter.push(value);
    if (events.length > 0) tell(events);
  }
}
