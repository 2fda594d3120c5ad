/** Says when a cron rule fires, before anybody relies on it. */
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { answer, client } from "../api/client";
import { civil } from "../parts/format";
import { Problem } from "../parts/problem";

export function CronCheck() {
  const [asked, setAsked] = useState({ expr: "0 3 * * 1-5", tz: Intl.DateTimeFormat().resolvedOptions().timeZone });
  const found = useQuery({
    queryKey: ["cron", asked],
    queryFn: ({ signal }) =>
      answer(client.GET("/api/v1/cron/next", { params: { query: { ...asked, count: 6 } }, signal })),
    placeholderData: (before) => before,
  });
  const ask = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setAsked({ expr: String(form.get("expr")), tz: String(form.get("tz")) });
  };
  return (
    <section className="card" aria-label="Try a rule">
      <div className="card-head">
        <h2>Try a rule</h2>
      </div>
      <div className="card-body stack">
        <form className="row wrap-row" onSubmit={ask}>
          <input className="input mono" name="expr" aria-label="Cron rule" defaultValue={asked.expr} />
          <input className="input" name="tz" aria-label="Time zone" defaultValue={asked.tz} />
          <button type="submit" className="btn">
            When?
          </button>
        </form>
        {found.isError ? (
          <Problem error={found.error} />
        ) : (
          <>
            <p className="soft" aria-live="polite">
              {found.data?.description ?? " "}
            </p>
            <ol className="row wrap-row num small">
              {found.data?.items.map((item) => (
                <li key={item.time} className="state chip tone-idle">
                  {civil(item.local ?? item.time)}
                </li>
              ))}
            </ol>
          </>
        )}
      </div>
    </section>
  );
}
