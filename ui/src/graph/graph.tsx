/** Tasks and what they wait for. Small graphs are drawn as SVG, large ones on a canvas; both look and work alike. */
import { type PointerEvent, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Graph as Shape } from "../api/queries";
import { CanvasGraph } from "./canvas";
import { collapse, groupLooks, groupOf } from "./collapse";
import { cellsOf, fitted, type Point, READABLE, size, taskAt, type View, zoom } from "./geometry";
import type { TaskLook } from "./looks";
import { SvgGraph } from "./svg";

/** More tasks than this are drawn on a canvas: that many elements make a browser slow. */
export const MOST_ELEMENTS = 800;

export interface GraphProps {
  graph: Shape;
  looks?: Map<string, TaskLook>;
  selected?: string | null;
  select?: (task: string) => void;
  /** Has one task wait for another, by dragging from its port; without it nothing can be drawn. */
  connect?: (from: string, to: string) => void;
  draft?: boolean;
  children?: ReactNode;
}

export interface Drawing {
  from: number;
  to: Point;
}

/** A large graph has its groups closed at first; a click opens one, a button shows every task. */
export function Graph(props: GraphProps) {
  const { graph, looks, select } = props;
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [every, setEvery] = useState(false);
  const large = graph.tasks.length > MOST_ELEMENTS;
  const closed = useMemo(() => (large && !every ? collapse(graph, opened) : null), [graph, large, every, opened]);
  const members = closed?.members;
  const shown = useMemo(() => (members ? groupLooks(looks ?? new Map(), members) : looks), [looks, members]);
  const choose = (task: string) => {
    const group = members?.has(task) ? groupOf(members.get(task)?.[0] ?? "") : undefined;
    if (group === undefined) select?.(task);
    else setOpened(new Set([...opened, group]));
  };
  if (!large) return <Picture {...props} />;
  return (
    <Picture
      // Another picture has another size, so it is fitted anew.
      key={closed ? "groups" : "every"}
      {...props}
      graph={closed?.graph ?? graph}
      looks={shown}
      select={choose}
      tools={
        <>
          {closed && opened.size > 0 && (
            <button type="button" className="btn small" onClick={() => setOpened(new Set())}>
              Close groups
            </button>
          )}
          <button type="button" className="btn small" aria-pressed={every} onClick={() => setEvery(!every)}>
            Every task
          </button>
        </>
      }
    />
  );
}

function Picture({
  graph,
  looks,
  selected,
  select,
  connect,
  draft,
  children,
  tools,
}: GraphProps & { tools?: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<View>({ scale: 1, x: 0, y: 0 });
  const [drawing, setDrawing] = useState<Drawing | null>(null);
  const moved = useRef(false);
  const drag = useRef<{ x: number; y: number; far: boolean } | null>(null);
  const content = useMemo(() => size(graph), [graph]);
  const cells = useMemo(() => cellsOf(graph), [graph]);
  const large = graph.tasks.length > MOST_ELEMENTS;
  // Boxes of groups are there to be read and clicked; every task at once is there to be seen as a whole.
  const least = tools && !large ? READABLE : undefined;

  const fitNow = useCallback(() => {
    const element = box.current;
    if (element) {
      const size = { width: element.clientWidth, height: element.clientHeight };
      setView(fitted(content, size, least));
    }
  }, [content, least]);

  // It fits until somebody has moved it.
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const watch = new ResizeObserver(() => !moved.current && fitNow());
    watch.observe(element);
    return () => watch.disconnect();
  }, [fitNow]);

  const zoomBy = useCallback((factor: number, at?: Point) => {
    const element = box.current;
    if (!element) return;
    moved.current = true;
    const middle = { x: element.clientWidth / 2, y: element.clientHeight / 2 };
    setView((now) => zoom(now, factor, at ?? middle));
  }, []);

  // A wheel listener of React cannot keep the page from zooming or scrolling.
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey && !draft && !large) return;
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      zoomBy(Math.exp(-event.deltaY * 0.002), { x: event.clientX - left, y: event.clientY - top });
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, [zoomBy, draft, large]);

  /** A point of the screen in the picture's own measure. */
  const inside = (event: PointerEvent): Point => {
    const { left = 0, top = 0 } = box.current?.getBoundingClientRect() ?? {};
    return { x: (event.clientX - left - view.x) / view.scale, y: (event.clientY - top - view.y) / view.scale };
  };

  const down = (event: PointerEvent) => {
    if (event.button !== 0 || (event.target as Element).closest("button")) return;
    const port = (event.target as Element).closest<SVGElement>("[data-port]");
    if (port && connect) {
      setDrawing({ from: Number(port.dataset.port), to: inside(event) });
    } else {
      drag.current = { x: event.clientX, y: event.clientY, far: false };
    }
  };
  const move = (event: PointerEvent) => {
    if (drawing) {
      setDrawing({ ...drawing, to: inside(event) });
      return;
    }
    const held = drag.current;
    if (!held) return;
    const by = { x: event.clientX - held.x, y: event.clientY - held.y };
    // A press that wanders a little is still a press.
    if (!held.far && Math.hypot(by.x, by.y) < 4) return;
    if (!held.far) box.current?.setPointerCapture(event.pointerId);
    drag.current = { x: event.clientX, y: event.clientY, far: true };
    moved.current = true;
    setView((now) => ({ ...now, x: now.x + by.x, y: now.y + by.y }));
  };
  const up = (event: PointerEvent) => {
    const place = taskAt(cells, inside(event));
    const task = place === undefined ? undefined : graph.tasks[place];
    if (drawing) {
      const from = graph.tasks[drawing.from];
      if (from && task && from.id !== task.id) connect?.(from.id, task.id);
      setDrawing(null);
    } else if (drag.current && !drag.current.far && task) {
      select?.(task.id);
    }
    drag.current = null;
  };

  return (
    <div
      className={draft ? "graph draft" : "graph"}
      style={draft ? undefined : { height: `clamp(240px, ${Math.ceil(content.height) + 60}px, 62vh)` }}
      ref={box}
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={up}
      onPointerCancel={() => {
        drag.current = null;
        setDrawing(null);
      }}
    >
      {large ? (
        <CanvasGraph graph={graph} looks={looks} selected={selected} view={view} />
      ) : (
        <SvgGraph
          graph={graph}
          looks={looks}
          selected={selected}
          select={select}
          view={view}
          ports={connect !== undefined}
          drawing={drawing}
        />
      )}
      {children}
      <div className="tools">
        {tools}
        <button type="button" className="btn small" onClick={() => zoomBy(1 / 1.3)} aria-label="Smaller">
          −
        </button>
        <button
          type="button"
          className="btn small"
          onClick={() => {
            moved.current = false;
            fitNow();
          }}
        >
          Fit
        </button>
        <button type="button" className="btn small" onClick={() => zoomBy(1.3)} aria-label="Larger">
          +
        </button>
      </div>
    </div>
  );
}
