/** A long list: only what is in view is drawn, `j` and `k` move, more is read near the end. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useKeys } from "../shell/keys";

const ROW = 36;

export interface RowsProps<T> {
  items: T[];
  keyOf: (item: T) => string | number;
  columns: string;
  heads: string[];
  label: string;
  /** Draws one row; `current` is the one that keys have chosen. */
  row: (item: T, props: { className: string; style: { gridTemplateColumns: string; transform: string } }) => ReactNode;
  open: (item: T) => void;
  more?: () => void;
  empty: ReactNode;
}

export function Rows<T>({ items, keyOf, columns, heads, label, row, open, more, empty }: RowsProps<T>) {
  const body = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(-1);
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => body.current,
    estimateSize: () => ROW,
    overscan: 12,
    getItemKey: (place) => keyOf(items[place] as T),
  });
  const move = (by: number) => {
    const next = Math.max(0, Math.min(items.length - 1, current + by));
    setCurrent(next);
    rows.scrollToIndex(next);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      const item = items[current];
      if (item) open(item);
    },
  });
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && last >= items.length - 20) more();
  }, [more, last, items.length]);
  return (
    <section className="vtable card" aria-label={label}>
      <div className="vhead" style={{ gridTemplateColumns: columns }} aria-hidden="true">
        {heads.map((head, place) => (
          <span key={place}>{head}</span>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys */}
      <div className="vbody" ref={body} tabIndex={0} role="group" aria-label={`${label}, ${items.length} rows`}>
        {items.length === 0 && empty}
        <div style={{ height: rows.getTotalSize() }}>
          {shown.map((place) => {
            const item = items[place.index] as T;
            return (
              <div key={place.key} style={{ display: "contents" }}>
                {row(item, {
                  className: place.index === current ? "vrow current" : "vrow",
                  style: { gridTemplateColumns: columns, transform: `translateY(${place.start}px)` },
                })}
              </div>
            );
          })}
        </div>
      </div>
    </section>
  );
}
