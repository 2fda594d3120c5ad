import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { schedules } from "../api/queries";
import { Empty, Skeleton } from "../parts/bits";
import { Filter } from "../parts/filter";
import { Problem } from "../parts/problem";
import { Page } from "../shell/page";
import { CronCheck } from "./cron-check";
import { ScheduleTable } from "./schedule-table";

export function Schedules() {
  const found = useQuery(schedules());
  const [filter, setFilter] = useState("");
  const wanted = filter.trim().toLowerCase();
  const shown = found.data?.filter((schedule) => schedule.id.toLowerCase().includes(wanted));
  return (
    <Page crumbs={[{ label: "Schedules" }]}>
      <div className="page-head">
        <h1>Schedules</h1>
      </div>
      <Filter label="Filter by workflow or name" text={filter} set={setFilter} />
      <div className="stack">
        <section className="card scroll-x" aria-label="Schedules">
          {found.isError ? (
            <Problem error={found.error} again={() => void found.refetch()} />
          ) : found.isPending ? (
            <Skeleton />
          ) : shown?.length ? (
            <ScheduleTable schedules={shown} />
          ) : (
            <Empty title={wanted ? "No schedule fits" : "Nothing is scheduled"}>
              <p>A workflow with a `schedule`, such as "0 3 * * *", runs by itself.</p>
            </Empty>
          )}
        </section>
        <CronCheck />
      </div>
    </Page>
  );
}
