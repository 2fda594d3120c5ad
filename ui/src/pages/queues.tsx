/** What could start at once if there were slots: by the group of workers it needs, and how urgent it is. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Cluster, type Priority, type Worker, workers } from "../api/queries";
import { Empty } from "../parts/bits";
import { count, plural } from "../parts/format";
import { WarnIcon } from "../parts/icons";
import { type Column, Table } from "../parts/table";

const PRIORITIES: Priority[] = ["highest", "high", "medium", "low", "lowest"];

interface Group {
  name: string | null;
  ready: Map<Priority, number>;
  total: number;
  /** Slots of its workers that take work, and how many are free. */
  slots: number;
  free: number;
  workers: number;
}

export function Queues({ cluster }: { cluster: Cluster }) {
  const known = useQuery(workers).data ?? [];
  const groups = groupsOf(cluster.queues ?? [], known);
  const columns: Column<Group>[] = [
    { head: "Group", kind: "name", cell: ({ name }) => name ?? <span className="soft">any worker</span> },
    ...PRIORITIES.map(
      (priority): Column<Group> => ({
        head: priority.charAt(0).toUpperCase() + priority.slice(1),
        kind: "num",
        cell: ({ ready }) => {
          const jobs = ready.get(priority) ?? 0;
          return jobs === 0 ? <span className="muted">–</span> : count(jobs);
        },
      }),
    ),
    { head: "Ready", kind: "num", cell: ({ total }) => <b>{count(total)}</b> },
    { head: "Workers", cell: (group) => <Served group={group} /> },
  ];
  return (
    <section className="card scroll-x" aria-label="Queues">
      <div className="card-head">
        <h2>{plural(cluster.work?.ready_jobs ?? 0, "ready job")}</h2>
        <span className="muted small">by the group of workers they need, and the priority of their runs</span>
      </div>
      {groups.length === 0 ? (
        <Empty title="Nothing waits for a slot">
          <p>A job that could start and finds no free slot is counted here.</p>
        </Empty>
      ) : (
        <Table items={groups} keyOf={(group) => group.name ?? ""} columns={columns} />
      )}
    </section>
  );
}

function Served({ group }: { group: Group }) {
  if (group.workers === 0)
    return (
      <Link to="/cluster" search={{ tab: "workers" }} className="state tone-warn">
        <WarnIcon size={13} /> none takes work
      </Link>
    );
  return (
    <span className="soft">
      {plural(group.workers, "worker")}, {count(group.free)} of {plural(group.slots, "slot")} free
    </span>
  );
}

/** Every group that something waits for or that has a worker; what any worker may do comes first. */
export function groupsOf(queues: NonNullable<Cluster["queues"]>, known: Worker[]): Group[] {
  const active = known.filter((worker) => worker.state === "online" || worker.state === "overloaded");
  const waiting = new Set(queues.map((queue) => queue.group ?? null));
  const names = new Set<string | null>([...waiting, ...active.flatMap((worker) => worker.groups)]);
  const sorted = [...names].sort((a, b) => (a === null ? -1 : b === null ? 1 : a.localeCompare(b)));
  return sorted.map((name) => {
    const mine = queues.filter((queue) => (queue.group ?? null) === name);
    const serve = active.filter((worker) => name === null || worker.groups.includes(name));
    const slots = serve.reduce((sum, worker) => sum + worker.slots, 0);
    return {
      name,
      ready: new Map(mine.map((queue) => [queue.priority, queue.ready_jobs])),
      total: mine.reduce((sum, queue) => sum + queue.ready_jobs, 0),
      slots,
      free: Math.max(0, slots - serve.reduce((sum, worker) => sum + worker.slots_used, 0)),
      workers: serve.length,
    };
  });
}
