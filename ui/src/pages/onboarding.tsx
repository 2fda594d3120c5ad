/** What to do first, where nothing was done yet. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { applyWorkflow, startRun } from "../api/actions";
import { cluster } from "../api/queries";
import { Copy } from "../parts/bits";
import { Problem } from "../parts/problem";
import { EXAMPLE, EXAMPLE_NAME } from "./example";

export function Onboarding() {
  const navigate = useNavigate();
  const machine = useQuery(cluster).data;
  const trying = useMutation({
    mutationFn: async () => {
      await applyWorkflow(EXAMPLE_NAME, EXAMPLE);
      return startRun({ workflow: EXAMPLE_NAME });
    },
    onSuccess: (run) => void navigate({ to: "/runs/$run", params: { run: run.id } }),
  });
  const connect = `windlass worker --master ${window.location.origin}`;
  return (
    <section className="stack" aria-label="First steps">
      <div>
        <h1>Nothing here yet. What first?</h1>
        <p className="soft">
          Windlass runs tasks in their order, on time, on any machine, and loses none.
          {machine && (machine.workers.online ?? 0) > 0 && " A worker is ready."}
        </p>
      </div>
      {trying.isError && <Problem error={trying.error} />}
      <div className="onboard">
        <div className="card">
          <h2>Run an example</h2>
          <p className="soft">
            Five small tasks: some side by side, one for each of several items, one that reads the results.
          </p>
          <button type="button" className="btn primary" disabled={trying.isPending} onClick={() => trying.mutate()}>
            {trying.isPending ? "Starting…" : "Run the example"}
          </button>
        </div>
        <div className="card">
          <h2>Write a workflow</h2>
          <p className="soft">YAML with completion, mistakes shown as you type, and the graph beside it.</p>
          <Link to="/editor" className="btn">
            Open the editor
          </Link>
        </div>
        <div className="card">
          <h2>Paste a crontab</h2>
          <p className="soft">Each line becomes a workflow of its own that runs when the line says.</p>
          <Link to="/editor" search={{ crontab: true }} className="btn">
            Paste a crontab
          </Link>
        </div>
        <div className="card">
          <h2>Connect a worker</h2>
          <p className="soft">On any machine that reaches this one:</p>
          <code className="pre" style={{ width: "100%" }}>
            {connect}
          </code>
          <Copy text={connect} />
        </div>
      </div>
    </section>
  );
}
