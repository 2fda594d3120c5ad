/** A table of things that are all shown at once; long lists are `Rows`. */
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Skeleton } from "./bits";
import { Problem } from "./problem";

export interface Column<T> {
  head: string;
  cell: (item: T) => ReactNode;
  /** `name` stands out, `num` is a number at the right, `actions` has buttons and no visible head. */
  kind?: "name" | "num" | "soft" | "mono" | "time" | "wrap" | "actions";
}

const CLASSES: Record<NonNullable<Column<unknown>["kind"]>, string> = {
  name: "name",
  num: "right num",
  soft: "soft",
  mono: "mono",
  time: "num soft nowrap",
  wrap: "wrap",
  actions: "right",
};

interface TableProps<T> {
  items: T[];
  keyOf: (item: T) => string | number;
  columns: Column<T>[];
}

export function Table<T>({ items, keyOf, columns }: TableProps<T>) {
  return (
    <table className="table">
      <thead>
        <tr>
          {columns.map(({ head, kind }) => (
            <th key={head} className={kind === "num" ? "right" : undefined}>
              {kind === "actions" ? <span className="sr">{head}</span> : head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={keyOf(item)}>
            {columns.map(({ head, kind, cell }) => (
              <td key={head} className={kind && CLASSES[kind]}>
                {cell(item)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ListedProps<T> extends Omit<TableProps<T>, "items"> {
  label: string;
  found: Pick<UseQueryResult<T[]>, "data" | "error" | "refetch">;
  empty: ReactNode;
}

/** A card with a table of what was read, or why there is none. */
export function Listed<T>({ label, found, empty, ...table }: ListedProps<T>) {
  return (
    <section className="card scroll-x" aria-label={label}>
      {found.error ? (
        <Problem error={found.error} again={() => void found.refetch()} />
      ) : !found.data ? (
        <Skeleton />
      ) : found.data.length === 0 ? (
        empty
      ) : (
        <Table items={found.data} {...table} />
      )}
    </section>
  );
}
