import { memo, useMemo } from "react";
import type { Graph, GraphTask } from "../api/queries";
import { corner, NODE, path, points, type View } from "./geometry";
import type { Drawing } from "./graph";
import type { TaskLook } from "./looks";

interface Props {
  graph: Graph;
  looks?: Map<string, TaskLook>;
  selected?: string | null;
  select?: (task: string) => void;
  view: View;
  ports: boolean;
  drawing: Drawing | null;
}

export function SvgGraph({ graph, looks, selected, select, view, ports, drawing }: Props) {
  return (
    <svg className="canvas" role="group" aria-label="Graph of tasks">
      <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
        <Edges graph={graph} selected={selected} />
        {graph.tasks.map((task, place) => (
          <Node
            key={task.id}
            task={task}
            place={place}
            look={looks?.get(task.id)}
            selected={selected === task.id}
            select={select}
            port={ports}
          />
        ))}
        {drawing && <Rope graph={graph} drawing={drawing} />}
      </g>
    </svg>
  );
}

const Edges = memo(function Edges({ graph, selected }: { graph: Graph; selected?: string | null }) {
  const paths = useMemo(() => graph.edges.map((edge) => path(points(graph, edge))), [graph]);
  return (
    <g>
      {graph.edges.map((edge, place) => {
        const on = selected && (graph.tasks[edge.from]?.id === selected || graph.tasks[edge.to]?.id === selected);
        return <path key={place} d={paths[place]} className={on ? "edge on" : "edge"} />;
      })}
    </g>
  );
});

interface NodeProps {
  task: GraphTask;
  place: number;
  look?: TaskLook;
  selected: boolean;
  select?: (task: string) => void;
  port: boolean;
}

const Node = memo(function Node({ task, place, look, selected, select, port }: NodeProps) {
  const at = corner(task);
  const sub =
    look?.sub ?? [task.type, task.foreach && "for each", task.finally && "finally"].filter(Boolean).join(" · ");
  return (
    <g
      className={selected ? "node selected" : "node"}
      transform={`translate(${at.x} ${at.y})`}
      role="button"
      tabIndex={0}
      aria-pressed={selected}
      data-task={task.id}
      data-state={look?.state}
      onKeyDown={(event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          select?.(task.id);
        }
      }}
    >
      <title>{[`${task.id}: ${sub}`, task.description].filter(Boolean).join("\n")}</title>
      {task.foreach && <rect className="behind" x={4} y={-4} width={NODE.width} height={NODE.height} rx={8} />}
      <rect className="box" width={NODE.width} height={NODE.height} rx={8} />
      <rect className={`strip ${look?.tone ?? "idle"}`} x={7} y={9} width={4} height={NODE.height - 18} rx={2} />
      <text className="name" x={20} y={21}>
        {short(task.id, 20)}
      </text>
      <text className="sub" x={20} y={37}>
        {short(sub, 24)}
      </text>
      {port && <circle className="port" data-port={place} cx={NODE.width} cy={NODE.height / 2} r={6} />}
    </g>
  );
});

function Rope({ graph, drawing }: { graph: Graph; drawing: Drawing }) {
  const from = graph.tasks[drawing.from];
  if (!from) return null;
  const start = corner(from);
  return (
    <path className="edge drawing" d={path([{ x: start.x + NODE.width, y: start.y + NODE.height / 2 }, drawing.to])} />
  );
}

export function short(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
