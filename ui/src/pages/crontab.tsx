import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { applyWorkflow, importCrontab } from "../api/actions";
import { plural } from "../parts/format";
import { Problem } from "../parts/problem";
import { useToasts } from "../parts/toasts";

const SAMPLE = "# Nightly backup\n0 3 * * 1-5 /opt/backup.sh --full\n*/15 * * * * /opt/poll.sh";

/** Turns a crontab into workflows, shown before anything is stored. */
export function Crontab() {
  const [text, setText] = useState("");
  const navigate = useNavigate();
  const queries = useQueryClient();
  const toasts = useToasts();
  const said = text.trim() !== "";
  const found = useQuery({
    queryKey: ["import-crontab", text],
    queryFn: ({ signal }) => importCrontab(text, signal),
    enabled: said,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const workflows = said ? (found.data?.workflows ?? []) : [];
  const lines = said ? (found.data?.lines ?? []) : [];
  const noted = lines.filter((line) => line.notes.length > 0);
  const storing = useMutation({
    mutationFn: async () => {
      for (const workflow of workflows) await applyWorkflow(workflow.name, workflow.text);
    },
    onSuccess: () => {
      toasts.done(`${plural(workflows.length, "workflow")} stored.`);
      void queries.invalidateQueries();
      void navigate({ to: "/schedules" });
    },
  });
  return (
    <div className="stack" style={{ overflow: "auto", paddingBottom: 40 }}>
      <div>
        <h1>Paste a crontab</h1>
        <p className="soft">Each line becomes a workflow of one task that runs when the line says.</p>
      </div>
      <div className="grid2">
        <div className="field">
          <label htmlFor="crontab">Crontab</label>
          <textarea
            id="crontab"
            className="textarea"
            rows={14}
            placeholder={SAMPLE}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </div>
        <section className="stack" aria-label="Workflows">
          {workflows.length === 0 && <p className="soft">What becomes of it is shown here.</p>}
          {workflows.map((workflow) => (
            <div key={workflow.name} className="card">
              <div className="card-head">
                <h2>{workflow.name}</h2>
              </div>
              <pre className="pre" style={{ margin: 10 }}>
                {workflow.text}
              </pre>
            </div>
          ))}
          {noted.length > 0 && (
            <div className="notice warn">
              <ul className="stack tight" aria-label="What differs">
                {noted.map((line) => (
                  <li key={line.line}>
                    <strong>
                      Line {line.line}, {line.outcome}:
                    </strong>{" "}
                    {line.notes.join("; ")}.
                  </li>
                ))}
              </ul>
            </div>
          )}
          {found.isError && <Problem error={found.error} />}
        </section>
      </div>
      {storing.isError && <Problem error={storing.error} />}
      <div className="row">
        <button
          type="button"
          className="btn primary"
          disabled={workflows.length === 0 || found.isPlaceholderData || storing.isPending}
          onClick={() => storing.mutate()}
        >
          Store {plural(workflows.length, "workflow")}
        </button>
        <Link to="/editor" className="btn">
          Write YAML instead
        </Link>
      </div>
    </div>
  );
}
