/** One schedule: what it is, when it fires, and what became of each due moment. */
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { type Firing, firings, type Schedule, scheduleNext, schedule as scheduleQuery } from "../api/queries";
import { Empty, Skeleton, Values } from "../parts/bits";
import { Confirm, type Wish } from "../parts/confirm";
import { civil } from "../parts/format";
import { PauseIcon } from "../parts/icons";
import { Problem } from "../parts/problem";
import { State } from "../parts/state";
import { Table } from "../parts/table";
import { Ago, Moment } from "../parts/time";
import { Page } from "../shell/page";
import { pauseWish } from "./schedule-table";

const route = getRouteApi("/shell/schedules/$schedule");
const CAUSES: Record<string, string> = {
  overlap: "A run of it was still open",
  paused: "The schedule was paused",
  disabled: "The workflow was disabled",
  calendar: "Its calendar left it out",
  missed: "Nobody was there, and its catch-up leaves such moments out",
};

export function SchedulePage() {
  const { schedule: id } = route.useParams();
  const found = useQuery(scheduleQuery(id));
  return (
    <Page crumbs={[{ label: "Schedules", to: "/schedules" }, { label: id }]}>
      {found.isError ? (
        <Problem error={found.error} again={() => void found.refetch()} />
      ) : found.data ? (
        <Loaded schedule={found.data} />
      ) : (
        <Skeleton rows={8} />
      )}
    </Page>
  );
}

function Loaded({ schedule }: { schedule: Schedule }) {
  const queries = useQueryClient();
  const [wish, setWish] = useState<Wish | null>(null);
  const next = useQuery(scheduleNext(schedule.id)).data;
  const { catchup, overlap, jitter, timezone, cron } = schedule;
  return (
    <>
      <div className="page-head">
        <div className="titles">
          <div className="row wrap-row">
            <h1>{schedule.name}</h1>
            {schedule.paused && (
              <span className="state chip tone-warn">
                <PauseIcon size={13} /> Paused
              </span>
            )}
          </div>
          <p className="soft">
            {schedule.description ?? cron} · starts{" "}
            <Link to="/workflows/$name" params={{ name: schedule.workflow }}>
              {schedule.workflow}
            </Link>
          </p>
        </div>
        <button
          type="button"
          className="btn"
          onClick={() => setWish(pauseWish(schedule, () => void queries.invalidateQueries()))}
        >
          {schedule.paused ? "Resume" : "Pause"}
        </button>
      </div>
      <div className="grid2" style={{ marginBottom: 16 }}>
        <section className="card" aria-label="Rule">
          <div className="card-head">
            <h2>Rule</h2>
          </div>
          <div className="card-body">
            <Values of={{ cron, timezone, catchup, overlap, jitter: jitter ?? "none" }} />
          </div>
        </section>
        <section className="card" aria-label="Next moments">
          <div className="card-head">
            <h2>Next moments</h2>
            <span className="muted small">in {timezone}</span>
          </div>
          <ul className="card-body num stack tight">
            {next?.items.map((item) => (
              <li key={item.time} className="row between">
                <span>{civil(item.local ?? item.time)}</span>
                <Ago at={item.time} />
              </li>
            ))}
          </ul>
        </section>
      </div>
      <Ledger id={schedule.id} />
      <Confirm wish={wish} close={() => setWish(null)} />
    </>
  );
}

function Ledger({ id }: { id: string }) {
  const found = useInfiniteQuery({ ...firings(id), refetchInterval: 5000 });
  const rows = found.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section className="card scroll-x" aria-label="Ledger of firings">
      <div className="card-head">
        <h2>Every due moment, and what became of it</h2>
      </div>
      {found.isPending ? (
        <Skeleton />
      ) : rows.length === 0 ? (
        <Empty title="No moment was due yet" />
      ) : (
        <Table
          items={rows}
          keyOf={(firing) => `${firing.due}${firing.at}`}
          columns={[
            { head: "Due", cell: (firing) => <Due firing={firing} /> },
            { head: "Outcome", cell: (firing) => <State of={firing.outcome} /> },
            {
              head: "Cause",
              kind: "soft",
              cell: ({ cause }) => (cause ? (CAUSES[cause] ?? cause) : ""),
            },
            {
              head: "Run",
              kind: "mono",
              cell: ({ run }) =>
                run && (
                  <Link to="/runs/$run" params={{ run }}>
                    {run}
                  </Link>
                ),
            },
            { head: "Decided", cell: (firing) => <Ago at={firing.at} /> },
          ]}
        />
      )}
      {found.hasNextPage && (
        <div className="card-body">
          <button type="button" className="btn" onClick={() => void found.fetchNextPage()}>
            Older
          </button>
        </div>
      )}
    </section>
  );
}

function Due({ firing }: { firing: Firing }) {
  return (
    <>
      <Moment at={firing.due} />
      {firing.count > 1 && (
        <span className="soft">
          {" "}
          and {firing.count - 1} more to <Moment at={firing.last_due} />
        </span>
      )}
    </>
  );
}
