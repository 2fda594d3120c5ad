import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { pauseSchedule } from "../api/actions";
import type { Schedule } from "../api/queries";
import { Confirm, type Wish } from "../parts/confirm";
import { PauseIcon } from "../parts/icons";
import { State } from "../parts/state";
import { Table } from "../parts/table";
import { Ago, Moment } from "../parts/time";

export function ScheduleTable({ schedules }: { schedules: Schedule[] }) {
  const [wish, setWish] = useState<Wish | null>(null);
  const queries = useQueryClient();
  const pause = (schedule: Schedule) =>
    setWish(pauseWish(schedule, () => void queries.invalidateQueries({ queryKey: ["schedules"] })));
  return (
    <>
      <Table
        items={schedules}
        keyOf={(schedule) => schedule.id}
        columns={[
          {
            head: "Workflow",
            cell: ({ workflow }) => (
              <Link to="/workflows/$name" params={{ name: workflow }}>
                {workflow}
              </Link>
            ),
          },
          {
            head: "Schedule",
            cell: ({ id, name }) => (
              <Link to="/schedules/$schedule" params={{ schedule: id }}>
                {name}
              </Link>
            ),
          },
          {
            head: "Rule",
            cell: ({ cron, description }) => (
              <>
                <code>{cron}</code>
                {description && <div className="soft small">{description}</div>}
              </>
            ),
          },
          { head: "Zone", kind: "soft", cell: (schedule) => schedule.timezone },
          { head: "Next", cell: (schedule) => <Next schedule={schedule} /> },
          { head: "Last", cell: (schedule) => <Last schedule={schedule} /> },
          {
            head: "Actions",
            kind: "actions",
            cell: (schedule) => (
              <button type="button" className="btn small" onClick={() => pause(schedule)}>
                {schedule.paused ? "Resume" : "Pause"}
              </button>
            ),
          },
        ]}
      />
      <Confirm wish={wish} close={() => setWish(null)} />
    </>
  );
}

function Next({ schedule }: { schedule: Schedule }) {
  if (schedule.paused || !schedule.enabled)
    return (
      <span className="state tone-warn">
        <PauseIcon size={13} /> {schedule.paused ? "Paused" : "Workflow disabled"}
      </span>
    );
  return (
    <>
      <Moment at={schedule.next_at} />
      <div className="soft small">
        <Ago at={schedule.next_at} />
      </div>
    </>
  );
}

function Last({ schedule: { last_firing: last } }: { schedule: Schedule }) {
  if (!last) return <span className="muted">Never</span>;
  return (
    <>
      <State of={last.outcome} />
      <div className="soft small">
        <Ago at={last.due} />
      </div>
    </>
  );
}

export function pauseWish(schedule: Schedule, afterwards: () => void): Wish {
  const { paused, id } = schedule;
  return {
    title: paused ? `Resume ${id}?` : `Pause ${id}?`,
    about: paused
      ? `It fires again, next ${schedule.next_at ? "when its rule says" : "never: its rule has ended"}. What was missed is treated by its catch-up: ${schedule.catchup}.`
      : "It fires no more until it is resumed. Each due moment is written down as skipped. Runs that it made go on.",
    verb: paused ? "Resume" : "Pause",
    act: () => pauseSchedule(id, !paused),
    done: paused ? "The schedule fires again." : "The schedule is paused.",
    afterwards,
  };
}
