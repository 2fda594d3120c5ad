/** What runs, what failed, what comes next, and who works, at a glance. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { cluster, schedules, someRuns, workflows } from "../api/queries";
import { Empty, Skeleton } from "../parts/bits";
import { useNow } from "../parts/clock";
import { count, plural } from "../parts/format";
import { WarnIcon } from "../parts/icons";
import { Problem } from "../parts/problem";
import { Table } from "../parts/table";
import { Ago, Moment } from "../parts/time";
import { Page } from "../shell/page";
import { Onboarding } from "./onboarding";
import { RunList } from "./run-row";
import { Throughput } from "./throughput";

const SHOWN = 8;
/** A firing is late when its moment is so long ago. */
const LATE_MS = 60_000;

export function Home() {
  const machine = useQuery(cluster);
  const latest = useQuery(someRuns({}, 1000));
  const stored = useQuery(workflows);
  const isNew = latest.data?.length === 0 && stored.data?.length === 0;
  return (
    <Page crumbs={[{ label: "Home" }]}>
      <div className="stack" style={{ gap: 16 }}>
        {machine.isError && <Problem error={machine.error} again={() => void machine.refetch()} />}
        {machine.data && !machine.data.scheduler.running && (
          <div className="notice warn">
            <WarnIcon className="tone-warn" />
            <div>
              <strong>The scheduler is switched off.</strong> Nothing new starts; what runs goes on.{" "}
              <Link to="/cluster">Switch it on</Link>
            </div>
          </div>
        )}
        <Figures />
        {isNew ? (
          <Onboarding />
        ) : (
          <>
            <div className="grid2">
              <Runs title="Running now" state="running" none="Nothing runs at the moment." />
              <Runs title="Failed lately" state="failed" none="Nothing has failed." />
            </div>
            <div className="grid2">
              <Throughput runs={latest.data} />
              <NextFirings />
            </div>
          </>
        )}
      </div>
    </Page>
  );
}

function Figures() {
  const { data } = useQuery(cluster);
  const alive = data?.masters.filter((master) => master.state === "alive").length;
  return (
    <div className="stats">
      <Figure label="Open runs" value={data?.work?.open_runs} to="/runs" search={{ state: "running" }} />
      <Figure label="Running jobs" value={data?.work?.running_jobs} />
      <Figure label="Ready jobs" value={data?.work?.ready_jobs} note="could start" />
      <Figure
        label="Slots in use"
        value={data?.workers.slots_used}
        note={data && `of ${count(data.workers.slots ?? 0)}`}
        to="/cluster"
        search={{ tab: "workers" }}
      />
      <Figure
        label="Workers"
        value={data?.workers.online}
        note={data?.workers.lost ? <span className="tone-bad">{count(data.workers.lost)} lost</span> : "online"}
        to="/cluster"
        search={{ tab: "workers" }}
      />
      <Figure
        label="Masters"
        value={alive}
        note={data?.leader ? `${data.leader} leads` : "nobody leads"}
        to="/cluster"
      />
    </div>
  );
}

interface FigureProps {
  label: string;
  value: number | undefined;
  note?: ReactNode;
  to?: string;
  search?: Record<string, string>;
}

function Figure({ label, value, note, to, search }: FigureProps) {
  return (
    <div className="card stat">
      <span className="soft small">
        {to ? (
          <Link to={to} search={search}>
            {label}
          </Link>
        ) : (
          label
        )}
      </span>
      <b>{value === undefined ? "–" : count(value)}</b>
      <span className="muted small">{note ?? " "}</span>
    </div>
  );
}

function Runs({ title, state, none }: { title: string; state: "running" | "failed"; none: string }) {
  const found = useQuery(someRuns({ state }, SHOWN));
  return (
    <section className="card" aria-label={title}>
      <div className="card-head">
        <h2>{title}</h2>
        <Link to="/runs" search={{ state }} className="small">
          All
        </Link>
      </div>
      {found.isPending ? (
        <Skeleton rows={4} />
      ) : found.data?.length ? (
        <RunList runs={found.data} />
      ) : (
        <p className="empty">{none}</p>
      )}
    </section>
  );
}

function NextFirings() {
  const found = useQuery(schedules());
  const now = useNow();
  const next = (found.data ?? [])
    .filter((schedule) => schedule.next_at && !schedule.paused && schedule.enabled)
    .sort((a, b) => ((a.next_at ?? "") < (b.next_at ?? "") ? -1 : 1));
  const late = next.filter((schedule) => Date.parse(schedule.next_at ?? "") < now - LATE_MS).length;
  return (
    <section className="card" aria-label="Next firings">
      <div className="card-head">
        <h2>Next firings</h2>
        {late > 0 ? (
          <span className="state tone-bad small">
            <WarnIcon size={14} /> {plural(late, "schedule")} late
          </span>
        ) : (
          <Link to="/schedules" className="small">
            All
          </Link>
        )}
      </div>
      {next.length === 0 ? (
        <Empty title="No schedule is due">
          <p>A workflow with a `schedule` runs by itself.</p>
        </Empty>
      ) : (
        <Table
          items={next.slice(0, SHOWN)}
          keyOf={({ id }) => id}
          columns={[
            {
              head: "Workflow",
              kind: "name",
              cell: ({ workflow }) => (
                <Link to="/workflows/$name" params={{ name: workflow }}>
                  {workflow}
                </Link>
              ),
            },
            { head: "Rule", kind: "soft", cell: ({ description, cron }) => description ?? cron },
            { head: "Due", kind: "time", cell: ({ next_at }) => <Moment at={next_at} /> },
            { head: "In", kind: "time", cell: ({ next_at }) => <Ago at={next_at} /> },
          ]}
        />
      )}
    </section>
  );
}
