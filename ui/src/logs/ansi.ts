/** Colours and styles of terminals in one line of text. Everything else that terminals obey is left out. Pure. */

export interface Segment {
  text: string;
  color?: string;
  background?: string;
  styles: string[];
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what they are
const SEQUENCE = /\x1b\[([0-9;:]*)([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]|[\x00-\x08\x0b-\x1f\x7f]/g;

interface Pen {
  color?: string;
  background?: string;
  styles: Set<string>;
}

export function segments(line: string): Segment[] {
  if (!line.includes("\x1b")) return [{ text: plain(line), styles: [] }];
  const found: Segment[] = [];
  const pen: Pen = { styles: new Set() };
  let from = 0;
  const push = (text: string) => {
    if (text) found.push({ text, color: pen.color, background: pen.background, styles: [...pen.styles] });
  };
  for (const match of line.matchAll(SEQUENCE)) {
    push(line.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[2] === "m") obey(pen, match[1] ?? "");
  }
  push(line.slice(from));
  return found;
}

/** Text without anything that terminals obey. */
export function plain(line: string): string {
  return line.replace(SEQUENCE, "");
}

function obey(pen: Pen, codes: string): void {
  const numbers = codes.split(/[;:]/).map((code) => (code === "" ? 0 : Number(code)));
  for (let place = 0; place < numbers.length; place += 1) {
    const code = numbers[place] ?? 0;
    if (code === 0) {
      pen.color = undefined;
      pen.background = undefined;
      pen.styles.clear();
    } else if (code === 38 || code === 48) {
      const [color, taken] = extended(numbers.slice(place + 1));
      if (code === 38) pen.color = color;
      else pen.background = color;
      place += taken;
    } else one(pen, code);
  }
}

const ON: Record<number, string> = { 1: "bold", 2: "dim", 3: "italic", 4: "underline", 9: "strike" };
const OFF: Record<number, string[]> = { 22: ["bold", "dim"], 23: ["italic"], 24: ["underline"], 29: ["strike"] };

function one(pen: Pen, code: number): void {
  const on = ON[code];
  if (on) pen.styles.add(on);
  for (const off of OFF[code] ?? []) pen.styles.delete(off);
  if (code >= 30 && code <= 37) pen.color = named(code - 30);
  else if (code >= 90 && code <= 97) pen.color = named(code - 82);
  else if (code >= 40 && code <= 47) pen.background = named(code - 40);
  else if (code >= 100 && code <= 107) pen.background = named(code - 92);
  else if (code === 39) pen.color = undefined;
  else if (code === 49) pen.background = undefined;
}

/** `5;n` or `2;r;g;b`, and how many numbers that took. */
function extended(numbers: number[]): [string | undefined, number] {
  if (numbers[0] === 5) return [indexed(numbers[1] ?? 0), 2];
  if (numbers[0] === 2) {
    const [red = 0, green = 0, blue = 0] = numbers.slice(1, 4).map((part) => Math.max(0, Math.min(255, part)));
    return [`rgb(${red} ${green} ${blue})`, 4];
  }
  return [undefined, 0];
}

function indexed(index: number): string | undefined {
  if (index < 16) return named(index);
  if (index > 255) return undefined;
  if (index >= 232) {
    const grey = (index - 232) * 10 + 8;
    return `rgb(${grey} ${grey} ${grey})`;
  }
  const cube = index - 16;
  const level = (part: number) => (part === 0 ? 0 : part * 40 + 55);
  return `rgb(${level(Math.floor(cube / 36))} ${level(Math.floor(cube / 6) % 6)} ${level(cube % 6)})`;
}

function named(index: number): string {
  return `var(--ansi-${index})`;
}
