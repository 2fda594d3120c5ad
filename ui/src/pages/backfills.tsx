/** Campaigns over past moments of a schedule: the plan first, then the button, then how it goes. */
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { type BackfillVerb, controlBackfill, startBackfill } from "../api/actions";
import {
  type Backfill,
  type BackfillPlan,
  backfillPlan,
  backfills,
  type CreateBackfill,
  type PlannedStage,
  schedules,
} from "../api/queries";
import { Empty, Skeleton } from "../parts/bits";
import { Confirm, type Wish } from "../parts/confirm";
import { count, moment, plural } from "../parts/format";
import { Problem } from "../parts/problem";
import { State } from "../parts/state";
import { Table } from "../parts/table";
import { Ago, Moment } from "../parts/time";
import { useToasts } from "../parts/toasts";
import { Page } from "../shell/page";

const route = getRouteApi("/shell/backfills");
/** So many moments of a plan are listed; the numbers are of all. */
const LISTED = 60;

export function Backfills() {
  return (
    <Page crumbs={[{ label: "Backfills" }]}>
      <div className="page-head">
        <div>
          <h1>Backfills</h1>
          <p className="soft">
            Runs for moments of a schedule that have passed: days that were missed, or are wanted again.
          </p>
        </div>
      </div>
      <div className="stack">
        <Planner />
        <Campaigns />
      </div>
    </Page>
  );
}

function Planner() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const toasts = useToasts();
  const scheduled = useQuery(schedules()).data;
  const names = [...new Set(scheduled?.map((schedule) => schedule.workflow))].sort();
  const [parallel, setParallel] = useState(1);
  const set = (change: Partial<typeof search>) =>
    void navigate({ to: "/backfills", search: { ...search, ...change }, replace: true });
  const { workflow = "", from = "", to = "", again, dependants } = search;
  // Whole days of the reader; what is still to come is not meant.
  const wanted: CreateBackfill | null =
    workflow && from
      ? {
          workflow,
          from: new Date(`${from}T00:00:00`).toISOString(),
          to: new Date(`${to || new Date().toLocaleDateString("en-CA")}T23:59:59.999`).toISOString(),
          missing_only: !again,
          with_dependants: dependants === true,
        }
      : null;
  const plan = useQuery({
    ...backfillPlan(wanted ?? { workflow: "-", from: "", to: "" }),
    enabled: wanted !== null,
    retry: false,
  });
  const starting = useMutation({
    mutationFn: () => startBackfill({ ...(wanted as CreateBackfill), parallel }),
    onSuccess: (made) => {
      toasts.done(`${plural(made.total, "run")} of ${made.workflow} will be made.`);
      void navigate({ to: "/backfills", search: {}, replace: true });
      void queries.invalidateQueries({ queryKey: ["backfills"] });
    },
  });
  const total = plan.data?.total ?? 0;
  return (
    <section className="card" aria-label="New backfill">
      <div className="card-head">
        <h2>New backfill</h2>
      </div>
      <div className="card-body stack">
        <div className="row wrap-row" style={{ alignItems: "flex-end", gap: 14 }}>
          <div className="field">
            <label htmlFor="workflow">Workflow</label>
            <select
              id="workflow"
              className="select"
              value={workflow}
              onChange={(event) => set({ workflow: event.target.value || undefined })}
            >
              <option value="">Choose one that has a schedule</option>
              {names.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </div>
          <div className="field">
            <label htmlFor="from">From</label>
            <input
              id="from"
              className="input"
              type="date"
              value={from}
              onChange={(event) => set({ from: event.target.value || undefined })}
            />
          </div>
          <div className="field">
            <label htmlFor="to">To</label>
            <input
              id="to"
              className="input"
              type="date"
              value={to}
              onChange={(event) => set({ to: event.target.value || undefined })}
            />
          </div>
          <div className="field">
            <label htmlFor="parallel">At once</label>
            <input
              id="parallel"
              className="input"
              type="number"
              min={1}
              max={1000}
              style={{ width: 80 }}
              value={parallel}
              onChange={(event) => setParallel(Math.max(1, Math.min(1000, Number(event.target.value) || 1)))}
            />
          </div>
          <label className="row">
            <input
              type="checkbox"
              checked={again !== true}
              onChange={(event) => set({ again: event.target.checked ? undefined : true })}
            />
            Only what is missing
          </label>
          <label className="row">
            <input
              type="checkbox"
              checked={dependants === true}
              onChange={(event) => set({ dependants: event.target.checked || undefined })}
            />
            Also workflows that need it
          </label>
        </div>
        {wanted === null ? (
          <p className="soft">Choose a workflow and a first day; what would be done is shown before anything is.</p>
        ) : plan.isError ? (
          <Problem error={plan.error} />
        ) : plan.data ? (
          <Plan plan={plan.data} />
        ) : (
          <Skeleton rows={3} />
        )}
        {starting.isError && <Problem error={starting.error} />}
        <div className="row">
          <button
            type="button"
            className="btn primary"
            disabled={!plan.data || total === 0 || plan.isFetching || starting.isPending}
            onClick={() => starting.mutate()}
          >
            {total === 0 ? "Start" : `Start ${plural(total, "run")}`}
          </button>
          {total > 0 && (
            <span className="soft">
              {parallel === 1 ? "One after the other, oldest first." : `${count(parallel)} at once, oldest first.`}
            </span>
          )}
        </div>
      </div>
    </section>
  );
}

function Plan({ plan }: { plan: BackfillPlan }) {
  return (
    <div className="stack" role="group" aria-label="Plan">
      <p>
        <strong>{plan.total === 0 ? "Nothing would be made" : `${plural(plan.total, "run")} would be made`}</strong>
        {plan.existing > 0 &&
          `; ${plural(plan.existing, "moment")} of the range ${plan.existing === 1 ? "has" : "have"} a run already`}
        .
      </p>
      {plan.stages.map((stage) => (
        <Stage key={stage.workflow} stage={stage} alone={plan.stages.length === 1} />
      ))}
    </div>
  );
}

function Stage({ stage, alone }: { stage: PlannedStage; alone: boolean }) {
  const shown = stage.runs.slice(0, LISTED);
  return (
    <div>
      {!alone && (
        <h3>
          {stage.workflow}: {plural(stage.total, "run")}
          {stage.needs.length > 0 && <span className="soft"> after {stage.needs.join(", ")}</span>}
        </h3>
      )}
      <ul className="moments">
        {shown.map((run) => (
          <li key={run.logical_time} className={run.wanted ? undefined : "soft"}>
            <span className="num">{moment(Date.parse(run.logical_time))}</span>{" "}
            {run.exists ? (
              <Link to="/runs/$run" params={{ run: run.exists }}>
                {run.wanted ? "again" : "has a run"}
              </Link>
            ) : (
              <span>{run.wanted ? "new" : "left out"}</span>
            )}
          </li>
        ))}
      </ul>
      {stage.runs.length > LISTED && (
        <p className="soft small">and {count(stage.runs.length - LISTED)} more up to the last day</p>
      )}
    </div>
  );
}

const VERBS: Record<BackfillVerb, { word: string; about: (of: Backfill) => string; done: string }> = {
  pause: {
    word: "Pause",
    about: (of) =>
      `No further run is made: ${plural(of.total - of.created, "run")} will wait until it is resumed. Runs that it has go on.`,
    done: "The backfill is paused.",
  },
  resume: {
    word: "Resume",
    about: (of) => `${plural(of.total - of.created, "run")} will be made, ${count(of.parallel)} at once.`,
    done: "The backfill goes on.",
  },
  stop: {
    word: "Stop",
    about: (of) =>
      `${plural(of.created - of.succeeded - of.failed, "open run")} of it will be stopped, and ${plural(of.total - of.created, "run")} will not be made. What has ended stays.`,
    done: "The backfill is being stopped.",
  },
};

function verbsOf({ state }: Backfill): BackfillVerb[] {
  if (state === "running" || state === "waiting") return ["pause", "stop"];
  if (state === "paused") return ["resume", "stop"];
  return [];
}

function Campaigns() {
  const found = useInfiniteQuery({ ...backfills(), refetchInterval: 2000 });
  const items = useMemo(() => found.data?.pages.flatMap((page) => page.items) ?? [], [found.data]);
  const queries = useQueryClient();
  const [wish, setWish] = useState<Wish | null>(null);
  const ask = (of: Backfill, verb: BackfillVerb) =>
    setWish({
      title: `${VERBS[verb].word} the backfill of ${of.workflow}?`,
      about: VERBS[verb].about(of),
      verb: VERBS[verb].word,
      danger: verb === "stop",
      act: () => controlBackfill(of.id, verb),
      done: VERBS[verb].done,
      afterwards: () => void queries.invalidateQueries({ queryKey: ["backfills"] }),
    });
  return (
    <section className="card scroll-x" aria-label="Backfills">
      {found.isError ? (
        <Problem error={found.error} again={() => void found.refetch()} />
      ) : found.isPending ? (
        <Skeleton />
      ) : items.length === 0 ? (
        <Empty title="There was no backfill yet" />
      ) : (
        <Table
          items={items}
          keyOf={(of) => of.id}
          columns={[
            {
              head: "Workflow",
              cell: (of) => (
                <>
                  <Link to="/workflows/$name" params={{ name: of.workflow }} search={{ tab: "calendar" }}>
                    {of.workflow}
                  </Link>
                  <div className="muted small mono">{of.id}</div>
                </>
              ),
            },
            { head: "State", cell: (of) => <State of={of.state} /> },
            {
              head: "Moments",
              cell: (of) => (
                <>
                  <Moment at={of.from} />
                  <div className="soft small">
                    to <Moment at={of.to} />
                  </div>
                </>
              ),
            },
            { head: "Progress", cell: (of) => <Going of={of} /> },
            {
              head: "Begun",
              cell: (of) => (
                <>
                  <Ago at={of.created_at} />
                  <span className="soft"> by {of.created_by}</span>
                </>
              ),
            },
            {
              head: "Actions",
              kind: "actions",
              cell: (of) => (
                <span className="row" style={{ justifyContent: "flex-end" }}>
                  {verbsOf(of).map((verb) => (
                    <button
                      key={verb}
                      type="button"
                      className={verb === "stop" ? "btn small danger" : "btn small"}
                      onClick={() => ask(of, verb)}
                    >
                      {VERBS[verb].word}
                    </button>
                  ))}
                </span>
              ),
            },
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
      <Confirm wish={wish} close={() => setWish(null)} />
    </section>
  );
}

function Going({ of }: { of: Backfill }) {
  const open = of.created - of.succeeded - of.failed;
  const parts = [
    { tone: "ok", number: of.succeeded, word: "succeeded" },
    { tone: "bad", number: of.failed, word: "ended otherwise" },
    { tone: "run", number: open, word: "open" },
    { tone: "idle", number: of.total - of.created, word: "to come" },
  ].filter((part) => part.number > 0);
  const words = parts.map((part) => `${count(part.number)} ${part.word}`).join(", ");
  return (
    <span className="row" style={{ gap: 10 }}>
      <span className="bar" style={{ width: 120 }} role="img" aria-label={words} title={words}>
        {parts.map(({ tone, number }) => (
          <span key={tone} className={`fill-${tone}`} style={{ flexGrow: number }} />
        ))}
      </span>
      <span className="num nowrap">
        {count(of.succeeded + of.failed)}/{count(of.total)}
        {of.failed > 0 && <span className="tone-bad"> · {count(of.failed)} failed</span>}
      </span>
    </span>
  );
}
