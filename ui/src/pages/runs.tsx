import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { type RunFilter, type RunState, runs, workflows } from "../api/queries";
import { Empty, Skeleton } from "../parts/bits";
import { Problem } from "../parts/problem";
import { Rows } from "../parts/rows";
import { look } from "../parts/state";
import { Page } from "../shell/page";
import { RUN_COLUMNS, RUN_HEADS, RunCells } from "./run-row";

const STATES: RunState[] = ["pending", "running", "pausing", "paused", "stopping", "success", "failed", "stopped"];
const SINCE = [
  ["", "Any time"],
  ["1h", "Last hour"],
  ["1d", "Last day"],
  ["7d", "Last week"],
  ["30d", "Last 30 days"],
] as const;
const route = getRouteApi("/shell/runs");

export function Runs() {
  const filter = route.useSearch();
  const navigate = useNavigate();
  const found = useInfiniteQuery(runs(filter));
  const names = useQuery(workflows).data;
  const items = useMemo(() => found.data?.pages.flatMap((page) => page.items) ?? [], [found.data]);
  const set = (change: Partial<RunFilter>) =>
    void navigate({ to: "/runs", search: { ...filter, ...change }, replace: true });
  const filtered = Object.values(filter).some((value) => value !== undefined);
  return (
    <Page crumbs={[{ label: "Runs" }]} fill>
      <div className="page-head">
        <h1>Runs</h1>
      </div>
      <form className="filters" onSubmit={(event) => event.preventDefault()} aria-label="Filters">
        <select
          className="select"
          data-filter
          aria-label="State"
          value={filter.state ?? ""}
          onChange={(event) => set({ state: (event.target.value || undefined) as RunState | undefined })}
        >
          <option value="">Any state</option>
          {STATES.map((state) => (
            <option key={state} value={state}>
              {look(state).word}
            </option>
          ))}
        </select>
        <input
          className="input"
          aria-label="Workflow"
          placeholder="Workflow"
          list="workflow-names"
          defaultValue={filter.workflow ?? ""}
          key={`w${filter.workflow ?? ""}`}
          onBlur={(event) => set({ workflow: event.target.value.trim() || undefined })}
          onKeyDown={(event) =>
            event.key === "Enter" && set({ workflow: event.currentTarget.value.trim() || undefined })
          }
        />
        <datalist id="workflow-names">
          {names?.map(({ name }) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <select
          className="select"
          aria-label="Created"
          value={filter.since ?? ""}
          onChange={(event) => set({ since: event.target.value || undefined })}
        >
          {SINCE.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        <input
          className="input mono"
          aria-label="Run id"
          placeholder="Run id begins with"
          defaultValue={filter.id_prefix ?? ""}
          key={`i${filter.id_prefix ?? ""}`}
          onKeyDown={(event) =>
            event.key === "Enter" && set({ id_prefix: event.currentTarget.value.trim().toUpperCase() || undefined })
          }
        />
        {filtered && (
          <Link to="/runs" className="btn quiet">
            Clear
          </Link>
        )}
      </form>
      {found.isError ? (
        <Problem error={found.error} again={() => void found.refetch()} />
      ) : found.isPending ? (
        <div className="card">
          <Skeleton rows={12} />
        </div>
      ) : (
        <Rows
          items={items}
          keyOf={(run) => run.id}
          columns={RUN_COLUMNS}
          heads={RUN_HEADS}
          label="Runs"
          row={(run, props) => (
            <Link to="/runs/$run" params={{ run: run.id }} {...props}>
              <RunCells run={run} />
            </Link>
          )}
          open={(run) => void navigate({ to: "/runs/$run", params: { run: run.id } })}
          more={found.hasNextPage && !found.isFetchingNextPage ? () => void found.fetchNextPage() : undefined}
          empty={
            filtered ? (
              <Empty title="No run fits">
                <p>Loosen the filters to see more.</p>
              </Empty>
            ) : (
              <Empty title="Nothing has run yet">
                <p>Start a workflow, or write one.</p>
                <div className="row">
                  <Link to="/editor" className="btn primary">
                    Write a workflow
                  </Link>
                </div>
              </Empty>
            )
          }
        />
      )}
    </Page>
  );
}
