/** The logical days of a workflow as a heat map, and what to do about those that are missing. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { startBackfill } from "../api/actions";
import { backfillPlan, schedules, someRuns } from "../api/queries";
import { Empty, Skeleton } from "../parts/bits";
import { Confirm, type Wish } from "../parts/confirm";
import { moment, plural } from "../parts/format";
import { Problem } from "../parts/problem";
import { look, State } from "../parts/state";
import { type Day, dateIn, daysOf, stateOf, stateOfDay, weeksTo } from "./calendar-days";

const WEEKS = 26;
const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const WEEK_MS = 7 * 86_400_000;

export function WorkflowCalendar({ workflow }: { workflow: string }) {
  // One range for as long as the page is open: a new one each second would be a new question each second.
  const [range] = useState(() => ({
    from: new Date(Date.now() - WEEKS * WEEK_MS).toISOString(),
    to: new Date().toISOString(),
  }));
  const schedule = useQuery(schedules(workflow));
  const zone = schedule.data?.[0]?.timezone ?? "UTC";
  const scheduled = (schedule.data?.length ?? 0) > 0;
  const plan = useQuery({ ...backfillPlan({ workflow, ...range }), enabled: scheduled });
  const runs = useQuery(someRuns({ workflow }, 1000));
  const [chosen, setChosen] = useState<string | null>(null);
  if (schedule.isError) return <Problem error={schedule.error} />;
  if (!schedule.data || !runs.data || (scheduled && plan.isPending)) return <Skeleton rows={8} />;
  if (!scheduled)
    return (
      <div className="card">
        <Empty title="It has no schedule, so no day is due">
          <p>Give it a `schedule`, and each logical day is shown here with what became of it.</p>
        </Empty>
      </div>
    );
  const days = daysOf(plan.data?.stages[0]?.runs ?? [], runs.data, zone);
  const missing = [...days.values()].flatMap((day) => day.moments).filter((each) => stateOf(each) === "missing").length;
  const day = chosen ? days.get(chosen) : undefined;
  return (
    <div className="stack">
      {plan.isError && <Problem error={plan.error} />}
      <section className="card" aria-label="Logical days">
        <div className="card-head">
          <h2>
            {plan.isError
              ? `The last ${WEEKS} weeks`
              : missing === 0
                ? `Nothing is missing in the last ${WEEKS} weeks`
                : `${plural(missing, "moment")} without a run in the last ${WEEKS} weeks`}
          </h2>
          {missing > 0 && (
            <Link to="/backfills" search={{ workflow, from: range.from.slice(0, 10) }} className="btn small">
              Backfill…
            </Link>
          )}
        </div>
        <div className="card-body scroll-x">
          <HeatMap days={days} last={dateIn(range.to, zone)} chosen={chosen} choose={setChosen} />
          <Legend />
        </div>
      </section>
      {day && <OneDay key={day.date} workflow={workflow} day={day} zone={zone} />}
    </div>
  );
}

interface HeatMapProps {
  days: Map<string, Day>;
  last: string;
  chosen: string | null;
  choose: (date: string) => void;
}

function HeatMap({ days, last, chosen, choose }: HeatMapProps) {
  const weeks = weeksTo(last, WEEKS);
  return (
    <table className="calendar">
      <thead>
        <tr>
          <td />
          {weeks.map((week, place) => {
            const month = (of: number) => weeks[of]?.[0]?.slice(0, 7);
            // A month of which only its last week or two are shown has no room for its name.
            const begins = place === 0 ? month(2) === month(0) : month(place) !== month(place - 1);
            return (
              <th key={week[0]} scope="col">
                {begins ? monthName(week[0] ?? "") : <span className="sr">{week[0]}</span>}
              </th>
            );
          })}
        </tr>
      </thead>
      <tbody>
        {WEEKDAYS.map((name, weekday) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {weeks.map((week) => {
              const date = week[weekday] ?? "";
              const day = days.get(date);
              const state = day && stateOfDay(day);
              if (!state) return <td key={date}>{date <= last && <span className="cell" title={date} />}</td>;
              const { tone, Icon, word } = look(state);
              return (
                <td key={date}>
                  <button
                    type="button"
                    className={state === "missing" ? "cell missing" : `cell fill-${tone}`}
                    aria-pressed={date === chosen}
                    aria-label={`${date}: ${word}`}
                    title={`${date}: ${word}`}
                    onClick={() => choose(date)}
                  >
                    {state !== "success" && state !== "missing" && <Icon size={11} />}
                  </button>
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function monthName(date: string): string {
  return new Intl.DateTimeFormat("en-GB", { month: "short", timeZone: "UTC" }).format(Date.parse(`${date}T00:00:00Z`));
}

function Legend() {
  return (
    <div className="row wrap-row soft small" style={{ marginTop: 10, gap: 14 }}>
      {(["success", "failed", "running", "stopped", "missing"] as const).map((state) => (
        <State key={state} of={state} />
      ))}
      <span>An empty square was not due.</span>
    </div>
  );
}

function OneDay({ workflow, day, zone }: { workflow: string; day: Day; zone: string }) {
  const [wish, setWish] = useState<Wish | null>(null);
  const missing = day.moments.filter((each) => stateOf(each) === "missing");
  const [first] = missing;
  const last = missing.at(-1);
  const ask = () => {
    if (!first || !last) return;
    setWish({
      title: `Run ${day.date} of ${workflow}?`,
      about: `${plural(missing.length, "run")} with the logical time of that day, as the schedule would have made ${missing.length === 1 ? "it" : "them"}, one after the other. Moments that have a run get no second one.`,
      verb: "Run it",
      act: () => startBackfill({ workflow, from: first.at, to: last.at, missing_only: true }),
      done: `${day.date} is being made up for.`,
    });
  };
  return (
    <section className="card" aria-label={`Moments of ${day.date}`}>
      <div className="card-head">
        <h2>{day.date}</h2>
        {missing.length > 0 && (
          <button type="button" className="btn small primary" onClick={ask}>
            Run this missing day
          </button>
        )}
      </div>
      <ul className="card-body stack tight">
        {day.moments.map((each) => (
          <li key={each.at} className="row between">
            <span className="num">
              {moment(Date.parse(each.at), zone)} <span className="muted">{zone}</span>
            </span>
            <span className="row">
              {each.run && (
                <Link to="/runs/$run" params={{ run: each.run.id }} className="mono">
                  {each.run.id}
                </Link>
              )}
              <State of={each.run?.state ?? "missing"} />
            </span>
          </li>
        ))}
      </ul>
      <Confirm wish={wish} close={() => setWish(null)} />
    </section>
  );
}
