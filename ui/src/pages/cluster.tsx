/** The machine room: masters and shards, workers, pools, tokens. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { switchScheduler } from "../api/actions";
import { type Cluster, cluster as clusterQuery } from "../api/queries";
import { Skeleton, Switch } from "../parts/bits";
import { Confirm, type Wish } from "../parts/confirm";
import { count, plural } from "../parts/format";
import { Problem } from "../parts/problem";
import { State } from "../parts/state";
import { Table } from "../parts/table";
import { Tabs } from "../parts/tabs";
import { Ago } from "../parts/time";
import type { ClusterTab } from "../routes";
import { Page } from "../shell/page";
import { Pools } from "./pools";
import { Queues } from "./queues";
import { Tokens } from "./tokens";
import { Workers } from "./workers";

const route = getRouteApi("/shell/cluster");
const TABS: [ClusterTab, string][] = [
  ["masters", "Masters and shards"],
  ["workers", "Workers"],
  ["queues", "Queues"],
  ["pools", "Pools"],
  ["tokens", "Tokens"],
];

export function ClusterPage() {
  const { tab = "masters" } = route.useSearch();
  const found = useQuery(clusterQuery);
  return (
    <Page crumbs={[{ label: "Cluster" }]}>
      <div className="page-head">
        <div>
          <h1>Cluster</h1>
          {found.data && (
            <div className="facts">
              <span>
                <b>Version</b>
                {found.data.version}
              </span>
              <span>
                <b>Store</b>
                <code>{found.data.store}</code>
              </span>
              <span>
                <b>Answered by</b>
                {found.data.answered_by}
              </span>
            </div>
          )}
        </div>
        {found.data && <Dispatch cluster={found.data} />}
      </div>
      <Tabs label="Parts of the cluster" tabs={TABS} tab={tab} to="/cluster" />
      {(tab === "masters" || tab === "queues") &&
        (found.isError ? (
          <Problem error={found.error} again={() => void found.refetch()} />
        ) : !found.data ? (
          <Skeleton />
        ) : tab === "queues" ? (
          <Queues cluster={found.data} />
        ) : (
          <Masters cluster={found.data} />
        ))}
      {tab === "workers" && <Workers />}
      {tab === "pools" && <Pools />}
      {tab === "tokens" && <Tokens />}
    </Page>
  );
}

function Dispatch({ cluster }: { cluster: Cluster }) {
  const queries = useQueryClient();
  const [wish, setWish] = useState<Wish | null>(null);
  const on = cluster.scheduler.running;
  const ask = () =>
    setWish({
      title: on ? "Switch the scheduler off?" : "Switch the scheduler on?",
      about: on
        ? `Nothing new starts anywhere. ${plural(cluster.work?.running_jobs ?? 0, "running job")} will go on to the end; ${plural(cluster.work?.ready_jobs ?? 0, "ready job")} will wait.`
        : `${plural(cluster.work?.ready_jobs ?? 0, "ready job")} may start at once.`,
      verb: on ? "Switch off" : "Switch on",
      danger: on,
      act: () => switchScheduler(!on),
      done: on ? "The scheduler is off." : "The scheduler is on.",
      afterwards: () => void queries.invalidateQueries({ queryKey: ["cluster"] }),
    });
  return (
    <div className="row">
      <span className={on ? "soft" : "tone-warn"}>{on ? "Dispatching" : "Scheduler is off"}</span>
      <Switch on={on} set={ask} label="Dispatch jobs" />
      <Confirm wish={wish} close={() => setWish(null)} />
    </div>
  );
}

type Master = Cluster["masters"][number];

function Masters({ cluster }: { cluster: Cluster }) {
  return (
    <div className="stack">
      <section className="card scroll-x" aria-label="Masters">
        <Table
          items={cluster.masters}
          keyOf={(master) => master.id}
          columns={[
            { head: "Master", kind: "name", cell: (master) => master.name },
            { head: "State", cell: (master) => <State of={master.state} /> },
            { head: "Leads", cell: (master) => (master.leader ? "leader" : "") },
            { head: "Shards", kind: "num", cell: (master) => master.shards },
            { head: "Address", kind: "mono", cell: (master) => master.address ?? "–" },
            { head: "Version", cell: (master) => master.version ?? "–" },
            ...(cluster.masters.some(({ started_at }) => started_at)
              ? [{ head: "Started", cell: (master: Master) => <Ago at={master.started_at} /> }]
              : []),
          ]}
        />
      </section>
      <section className="card" aria-label="Shards">
        <div className="card-head">
          <h2>{plural(cluster.shards.length, "shard")}</h2>
          <span className="muted small">
            each slice of the work has one owner; its epoch grows with every change of it
          </span>
        </div>
        <ul className="card-body shards">
          {cluster.shards.map((shard) => (
            <li key={shard.shard} className="shard">
              <div className="row between">
                <b className="num">{shard.shard}</b>
                <span className="muted small num">epoch {count(shard.epoch)}</span>
              </div>
              <div className="row between small">
                <span className={shard.owner ? "soft ellipsis" : "tone-bad"}>{shard.owner ?? "nobody"}</span>
                {(shard.open_runs ?? 0) > 0 && <span className="num nowrap">{count(shard.open_runs ?? 0)} open</span>}
              </div>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}
