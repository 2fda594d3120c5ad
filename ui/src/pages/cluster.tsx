/** The machine room: masters and shards, workers, pools, tokens. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { switchScheduler } from "../api/actions";
import { type Cluster, cluster as clusterQuery } from "../api/queries";
import { Skeleton, Switch } from "../parts/bits";
import { Confirm, type Wish } from "../parts/confirm";
import { count, plural } from "../parts/format";
import { Problem } from "../parts/problem";
import { State } from "../parts/state";
import { Ago } from "../parts/time";
import type { ClusterTab } from "../routes";
import { Page } from "../shell/page";
import { Pools } from "./pools";
import { Tokens } from "./tokens";
import { Workers } from "./workers";

const route = getRouteApi("/shell/cluster");
const TABS: [ClusterTab, string][] = [
  ["masters", "Masters and shards"],
  ["workers", "Workers"],
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
      <nav className="tabs" aria-label="Parts of the cluster">
        {TABS.map(([id, label]) => (
          <Link
            key={id}
            to="/cluster"
            search={{ tab: id }}
            className="tab"
            aria-current={tab === id ? "page" : undefined}
            data-status={tab === id ? "active" : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      {tab === "masters" &&
        (found.isError ? (
          <Problem error={found.error} again={() => void found.refetch()} />
        ) : found.data ? (
          <Masters cluster={found.data} />
        ) : (
          <Skeleton />
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

function Masters({ cluster }: { cluster: Cluster }) {
  return (
    <div className="stack">
      <section className="card scroll-x" aria-label="Masters">
        <table className="table">
          <thead>
            <tr>
              <th>Master</th>
              <th>State</th>
              <th>Leads</th>
              <th className="right">Shards</th>
              <th>Address</th>
              <th>Version</th>
              <th>Started</th>
            </tr>
          </thead>
          <tbody>
            {cluster.masters.map((master) => (
              <tr key={master.id}>
                <td style={{ fontWeight: 550 }}>{master.name}</td>
                <td>
                  <State of={master.state} />
                </td>
                <td>{master.leader ? "leader" : ""}</td>
                <td className="right num">{master.shards}</td>
                <td className="mono">{master.address ?? "–"}</td>
                <td>{master.version ?? "–"}</td>
                <td>
                  <Ago at={master.started_at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
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
