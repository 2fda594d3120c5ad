/** From the server's cells to pixels. Pure. */
import type { Graph } from "../api/queries";

export const CELL = { width: 220, height: 76 };
export const NODE = { width: 172, height: 48 };
export const PAD = 24;

export interface Point {
  x: number;
  y: number;
}

/** Upper left corner of a task's box. */
export function corner(cell: { x: number; y: number }): Point {
  return { x: PAD + cell.x * CELL.width, y: PAD + cell.y * CELL.height };
}

export function size(graph: Graph): { width: number; height: number } {
  return {
    width: PAD * 2 + Math.max(0, graph.width - 1) * CELL.width + NODE.width,
    height: PAD * 2 + Math.max(0, graph.height - 1) * CELL.height + NODE.height,
  };
}

/** The points through which an edge goes: out of one box, past others, into the next. */
export function points(graph: Graph, edge: Graph["edges"][number]): Point[] {
  const from = graph.tasks[edge.from];
  const to = graph.tasks[edge.to];
  if (!from || !to) return [];
  const middle = NODE.height / 2;
  const start = corner(from);
  const end = corner(to);
  const bends = (edge.bends ?? []).flatMap(([x = 0, y = 0]) => {
    const at = corner({ x, y });
    // A line through a free cell runs straight across it.
    return [
      { x: at.x, y: at.y + middle },
      { x: at.x + NODE.width, y: at.y + middle },
    ];
  });
  return [{ x: start.x + NODE.width, y: start.y + middle }, ...bends, { x: end.x, y: end.y + middle }];
}

/** An SVG path that leaves and arrives level. */
export function path(through: Point[]): string {
  const [first, ...rest] = through;
  if (!first) return "";
  let text = `M${first.x} ${first.y}`;
  let before = first;
  for (const point of rest) {
    const half = (before.x + point.x) / 2;
    text += point.y === before.y ? `H${point.x}` : `C${half} ${before.y} ${half} ${point.y} ${point.x} ${point.y}`;
    before = point;
  }
  return text;
}

export interface View {
  scale: number;
  x: number;
  y: number;
}

const SMALLEST = 0.02;
const LARGEST = 2;

/** Names can still be read at this size. */
export const READABLE = 0.5;

/** Shows everything, but nothing larger than it is; of what would be smaller than the least, the beginning. */
export function fitted(
  content: { width: number; height: number },
  box: { width: number; height: number },
  least = SMALLEST,
): View {
  const scale = Math.max(least, Math.min(1, box.width / content.width, box.height / content.height));
  return {
    scale,
    x: Math.max(0, (box.width - content.width * scale) / 2),
    y: Math.max(0, (box.height - content.height * scale) / 2),
  };
}

/** Zooms so that the point under the pointer stays there. */
export function zoom(view: View, factor: number, at: Point): View {
  const scale = Math.max(SMALLEST, Math.min(LARGEST, view.scale * factor));
  const ratio = scale / view.scale;
  return { scale, x: at.x - (at.x - view.x) * ratio, y: at.y - (at.y - view.y) * ratio };
}

/** The place of the task whose box has a point, given in the picture's own measure. */
export function taskAt(cells: Map<string, number>, at: Point): number | undefined {
  const x = Math.floor((at.x - PAD) / CELL.width);
  const y = Math.floor((at.y - PAD) / CELL.height);
  const inside = at.x - PAD - x * CELL.width <= NODE.width && at.y - PAD - y * CELL.height <= NODE.height;
  return inside ? cells.get(`${x},${y}`) : undefined;
}

export function cellsOf(graph: Graph): Map<string, number> {
  return new Map(graph.tasks.map((task, place) => [`${task.x},${task.y}`, place]));
}
