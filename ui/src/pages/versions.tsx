import { MergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { version, versions } from "../api/queries";
import { base } from "../editor/setup";
import { Skeleton } from "../parts/bits";
import { Problem } from "../parts/problem";
import { Table } from "../parts/table";
import { Ago } from "../parts/time";

const route = getRouteApi("/shell/workflows/$name");

/** Every version of a workflow, and two of them side by side. */
export default function Versions({ name }: { name: string }) {
  const search = route.useSearch();
  const found = useQuery(versions(name));
  if (found.isError) return <Problem error={found.error} />;
  if (!found.data) return <Skeleton />;
  const newest = found.data[0]?.version ?? 1;
  const to = search.to ?? newest;
  const from = search.from ?? Math.max(1, to - 1);
  return (
    <div className="stack">
      <section className="card scroll-x" aria-label="Versions">
        <Table
          items={found.data}
          keyOf={(each) => each.version}
          columns={[
            {
              head: "Version",
              cell: (each) => (
                <span className="num">
                  {each.version} {each.current && <span className="state chip tone-ok small">current</span>}
                </span>
              ),
            },
            { head: "Stored", cell: (each) => <Ago at={each.created_at} /> },
            { head: "By", cell: (each) => each.created_by },
            {
              head: "Compare",
              kind: "actions",
              cell: (each) =>
                each.version > 1 && (
                  <Link
                    to="/workflows/$name"
                    params={{ name }}
                    search={{ tab: "versions", from: each.version - 1, to: each.version }}
                    className="btn small"
                  >
                    What changed
                  </Link>
                ),
            },
          ]}
        />
      </section>
      {from !== to && <Diff name={name} from={from} to={to} />}
    </div>
  );
}

function Diff({ name, from, to }: { name: string; from: number; to: number }) {
  const before = useQuery(version(name, from)).data?.text;
  const after = useQuery(version(name, to)).data?.text;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!place.current || typeof before !== "string" || typeof after !== "string") return;
    const extensions = (label: string) => [
      ...base(),
      lineNumbers(),
      EditorState.readOnly.of(true),
      EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    ];
    const view = new MergeView({
      a: { doc: before, extensions: extensions(`Version ${from}`) },
      b: { doc: after, extensions: extensions(`Version ${to}`) },
      parent: place.current,
      collapseUnchanged: { margin: 3, minSize: 6 },
    });
    return () => view.destroy();
  }, [before, after, from, to]);
  return (
    <section className="card" aria-label={`Version ${from} and ${to}`}>
      <div className="card-head">
        <h2>
          Version {from} → {to}
        </h2>
      </div>
      <div className="diff" ref={place} />
    </section>
  );
}
