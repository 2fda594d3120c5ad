import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { pauseSchedule } from "../api/actions";
import type { Schedule } from "../api/queries";
import { Confirm, type Wish } from "../parts/confirm";
import { PauseIcon } from "../parts/icons";
import { State } from "../parts/state";
import { Ago, Moment } from "../parts/time";

export function ScheduleTable({ schedules }: { schedules: Schedule[] }) {
  const [wish, setWish] = useState<Wish | null>(null);
  const queries = useQueryClient();
  const pause = (schedule: Schedule) =>
    setWish(pauseWish(schedule, () => void queries.invalidateQueries({ queryKey: ["schedules"] })));
  return (
    <>
      <table className="table">
        <thead>
          <tr>
            <th>Workflow</th>
            <th>Schedule</th>
            <th>Rule</th>
            <th>Zone</th>
            <th>Next</th>
            <th>Last</th>
            <th>
              <span className="sr">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {schedules.map((schedule) => (
            <tr key={schedule.id}>
              <td>
                <Link to="/workflows/$name" params={{ name: schedule.workflow }}>
                  {schedule.workflow}
                </Link>
              </td>
              <td>
                <Link to="/schedules/$schedule" params={{ schedule: schedule.id }}>
                  {schedule.name}
                </Link>
              </td>
              <td>
                <code>{schedule.cron}</code>
                {schedule.description && <div className="soft small">{schedule.description}</div>}
              </td>
              <td className="soft">{schedule.timezone}</td>
              <td>
                {schedule.paused || !schedule.enabled ? (
                  <span className="state tone-warn">
                    <PauseIcon size={13} /> {schedule.paused ? "Paused" : "Workflow disabled"}
                  </span>
                ) : (
                  <>
                    <Moment at={schedule.next_at} />
                    <div className="soft small">
                      <Ago at={schedule.next_at} />
                    </div>
                  </>
                )}
              </td>
              <td>
                {schedule.last_firing ? (
                  <>
                    <State of={schedule.last_firing.outcome} />
                    <div className="soft small">
                      <Ago at={schedule.last_firing.due} />
                    </div>
                  </>
                ) : (
                  <span className="muted">Never</span>
                )}
              </td>
              <td className="right">
                <button type="button" className="btn small" onClick={() => pause(schedule)}>
                  {schedule.paused ? "Resume" : "Pause"}
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Confirm wish={wish} close={() => setWish(null)} />
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
