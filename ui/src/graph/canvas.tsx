/** A graph of thousands of tasks: only what is in view is drawn, and only when something has changed. */
import { useEffect, useRef } from "react";
import type { Graph } from "../api/queries";
import { count } from "../parts/format";
import { CELL, corner, NODE, PAD, points, type View } from "./geometry";
import type { TaskLook } from "./looks";
import { short } from "./svg";

interface Props {
  graph: Graph;
  looks?: Map<string, TaskLook>;
  selected?: string | null;
  view: View;
}

/** Below this names could not be read, and lines between boxes are only noise. */
const NAMES_FROM = 0.45;
const LINES_FROM = 0.04;

export function CanvasGraph({ graph, looks, selected, view }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const frame = requestAnimationFrame(() => draw(element, { graph, looks, selected, view }));
    return () => cancelAnimationFrame(frame);
  }, [graph, looks, selected, view]);
  return (
    <canvas
      ref={canvas}
      role="img"
      aria-label={`Graph of ${count(graph.tasks.length)} tasks; the table of jobs has the same`}
    />
  );
}

function draw(element: HTMLCanvasElement, { graph, looks, selected, view }: Props): void {
  const context = element.getContext("2d");
  if (!context) return;
  const dots = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = element;
  element.width = width * dots;
  element.height = height * dots;
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(`--${name}`);
  context.setTransform(dots * view.scale, 0, 0, dots * view.scale, dots * view.x, dots * view.y);
  const seen = {
    left: -view.x / view.scale,
    top: -view.y / view.scale,
    right: (width - view.x) / view.scale,
    bottom: (height - view.y) / view.scale,
  };
  if (view.scale >= LINES_FROM) {
    context.strokeStyle = colour("line-strong");
    context.lineWidth = Math.max(1.2, 0.6 / view.scale);
    context.beginPath();
    for (const edge of graph.edges) {
      const from = graph.tasks[edge.from];
      const to = graph.tasks[edge.to];
      if (!from || !to) continue;
      if (PAD + to.x * CELL.width < seen.left || PAD + from.x * CELL.width + NODE.width > seen.right + CELL.width)
        continue;
      const [first, ...rest] = points(graph, edge);
      if (!first) continue;
      context.moveTo(first.x, first.y);
      for (const point of rest) context.lineTo(point.x, point.y);
    }
    context.stroke();
  }
  const tones = new Map<string, string>();
  for (const tone of ["ok", "bad", "run", "warn", "idle", "skip"]) tones.set(tone, colour(`${tone}-solid`));
  const [box, line, text, sub, accent] = ["raised", "line-strong", "text", "text-3", "accent"].map(colour);
  const named = view.scale >= NAMES_FROM;
  for (const task of graph.tasks) {
    const at = corner(task);
    if (at.x > seen.right || at.x + NODE.width < seen.left || at.y > seen.bottom || at.y + NODE.height < seen.top)
      continue;
    const look = looks?.get(task.id);
    const tone = tones.get(look?.tone ?? "idle") ?? "";
    context.beginPath();
    context.roundRect(at.x, at.y, NODE.width, NODE.height, 8);
    context.fillStyle = named ? (box ?? "") : tone;
    context.fill();
    context.strokeStyle = (task.id === selected ? accent : line) ?? "";
    context.lineWidth = task.id === selected ? 2 / Math.min(1, view.scale) : 1;
    if (named || task.id === selected) context.stroke();
    if (!named) continue;
    context.fillStyle = tone;
    context.fillRect(at.x + 7, at.y + 9, 4, NODE.height - 18);
    context.fillStyle = text ?? "";
    context.font = `550 13px ${style.fontFamily}`;
    context.fillText(short(task.id, 20), at.x + 20, at.y + 21);
    context.fillStyle = sub ?? "";
    context.font = `12px ${style.fontFamily}`;
    context.fillText(short(look?.sub ?? task.type, 24), at.x + 20, at.y + 37);
  }
}
