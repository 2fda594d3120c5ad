import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { drainWorker } from "../api/actions";
import { type Worker, worker as workerQuery, workers } from "../api/queries";
import { Copy, Empty, Values } from "../parts/bits";
import { Confirm, type Wish } from "../parts/confirm";
import { plural } from "../parts/format";
import { Problem, sentence } from "../parts/problem";
import { State } from "../parts/state";
import { Listed } from "../parts/table";
import { Ago, Took } from "../parts/time";

const route = getRouteApi("/shell/cluster");

export function Workers() {
  const { worker: chosen } = route.useSearch();
  const navigate = useNavigate();
  const found = useQuery(workers);
  const show = (name: string | undefined) =>
    void navigate({ to: "/cluster", search: { tab: "workers", worker: name }, replace: true });
  const command = `windlass worker --master ${window.location.origin}`;
  return (
    <div className={chosen ? "split" : "split one"}>
      <Listed
        label="Workers"
        found={found}
        keyOf={(worker) => worker.id}
        empty={
          <Empty title="No worker is known">
            <p>On any machine that reaches this one:</p>
            <div className="row">
              <code>{command}</code>
              <Copy text={command} />
            </div>
          </Empty>
        }
        columns={[
          {
            head: "Worker",
            cell: ({ name }) => (
              <button
                type="button"
                className="btn quiet small"
                style={{ padding: 0, fontWeight: 550, color: "var(--accent)" }}
                onClick={() => show(name)}
              >
                {name}
              </button>
            ),
          },
          { head: "State", cell: (worker) => <State of={worker.state} title={worker.reason} /> },
          { head: "Slots in use", cell: (worker) => <Slots worker={worker} /> },
          { head: "Groups", kind: "soft", cell: (worker) => worker.groups.join(", ") || "–" },
          { head: "Labels", kind: "soft", cell: (worker) => labelsOf(worker) || "–" },
          { head: "Version", kind: "soft", cell: (worker) => worker.version ?? "–" },
          { head: "Heard of", cell: (worker) => <Ago at={worker.last_seen_at} /> },
        ]}
      />
      {chosen && <WorkerPanel name={chosen} close={() => show(undefined)} />}
    </div>
  );
}

function Slots({ worker }: { worker: Worker }) {
  const used = worker.slots === 0 ? 0 : worker.slots_used / worker.slots;
  return (
    <span className="row" style={{ gap: 10 }}>
      <span className="bar" style={{ width: 90 }} aria-hidden="true">
        <span className="fill-run" style={{ width: `${used * 100}%`, minWidth: 0 }} />
      </span>
      <span className="num">
        {worker.slots_used}/{worker.slots}
      </span>
    </span>
  );
}

function labelsOf(worker: Worker): string {
  return Object.entries(worker.labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(", ");
}

function WorkerPanel({ name, close }: { name: string; close: () => void }) {
  const found = useQuery(workerQuery(name));
  const queries = useQueryClient();
  const [wish, setWish] = useState<Wish | null>(null);
  const worker = found.data;
  const ask = (draining: boolean, running: number) =>
    setWish({
      title: draining ? `Have ${name} take work again?` : `Drain ${name}?`,
      about: draining
        ? "It is offered jobs again."
        : `It takes nothing new; ${plural(running, "attempt")} that it has will finish. Then it can be stopped without harm.`,
      verb: draining ? "Resume" : "Drain",
      act: () => drainWorker(name, !draining),
      done: draining ? `${name} takes work again.` : `${name} is draining.`,
      afterwards: () => void queries.invalidateQueries({ queryKey: ["workers"] }),
    });
  return (
    <aside className="card side" aria-label={`Worker ${name}`}>
      <div className="card-head">
        <h2>{name}</h2>
        <div className="row">
          {worker && <State of={worker.state} chip />}
          <button type="button" className="btn small quiet" onClick={close}>
            Close
          </button>
        </div>
      </div>
      {found.isError && <Problem error={found.error} />}
      {worker && (
        <>
          <section className="first">
            {worker.reason && <p className="wrap">{sentence(worker.reason)}</p>}
            <div className="row" style={{ marginTop: 8 }}>
              <button
                type="button"
                className="btn"
                onClick={() => ask(worker.state === "draining", worker.attempts?.length ?? 0)}
              >
                {worker.state === "draining" ? "Resume" : "Drain"}
              </button>
            </div>
          </section>
          <section aria-label="Attempts">
            <h3>Does now</h3>
            {worker.attempts?.length ? (
              <ul className="stack tight">
                {worker.attempts.map((attempt) => (
                  <li key={`${attempt.run}.${attempt.job}`} className="row between">
                    <Link
                      to="/runs/$run"
                      params={{ run: attempt.run }}
                      search={{ job: attempt.job }}
                      className="ellipsis"
                    >
                      {attempt.workflow} · {attempt.task}
                    </Link>
                    <Took from={attempt.started_at} to={undefined} />
                  </li>
                ))}
              </ul>
            ) : (
              <span className="muted">Nothing</span>
            )}
          </section>
          <section aria-label="Resources">
            <h3>Resources</h3>
            <Values
              of={Object.fromEntries(
                Object.entries(worker.resources ?? {}).map(([key, has]) => {
                  const used = worker.resources_used?.[key];
                  return [key, used === undefined ? has : `${used} of ${has}`];
                }),
              )}
            />
          </section>
          <section aria-label="Labels">
            <h3>Labels</h3>
            <Values of={worker.labels ?? {}} />
          </section>
          <section>
            <Values
              of={{
                id: worker.id,
                ...(worker.version && { version: worker.version }),
                ...(worker.host && { host: worker.host }),
              }}
            />
          </section>
        </>
      )}
      <Confirm wish={wish} close={() => setWish(null)} />
    </aside>
  );
}
