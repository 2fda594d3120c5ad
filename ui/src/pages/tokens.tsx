import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { createToken, revokeToken } from "../api/actions";
import { type Role, type Token, tokens } from "../api/queries";
import { Copy, Empty } from "../parts/bits";
import { Confirm, type Wish } from "../parts/confirm";
import { Dialog } from "../parts/dialog";
import { Problem } from "../parts/problem";
import { Listed } from "../parts/table";
import { Ago } from "../parts/time";

const ROLES: [Role, string][] = [
  ["viewer", "Viewer: only look"],
  ["operator", "Operator: workflows, runs, schedules, pools"],
  ["admin", "Admin: everything"],
  ["worker", "Worker: join as a worker, nothing else"],
];

export function Tokens() {
  const found = useQuery(tokens);
  const queries = useQueryClient();
  const [wish, setWish] = useState<Wish | null>(null);
  const again = () => void queries.invalidateQueries({ queryKey: ["tokens"] });
  const making = useMutation({
    mutationFn: ({ name, role }: { name: string; role: Role }) => createToken(name, role),
    onSuccess: again,
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const values = new FormData(form);
    making.mutate(
      { name: String(values.get("name")).trim(), role: values.get("role") as Role },
      { onSuccess: () => form.reset() },
    );
  };
  const revoke = (token: Token) =>
    setWish({
      title: `Revoke ${token.name}?`,
      about: "Whoever has it is refused at once. It cannot be made valid again.",
      verb: "Revoke",
      danger: true,
      act: () => revokeToken(token.id),
      done: `${token.name} opens nothing any more.`,
      afterwards: again,
    });
  return (
    <div className="stack">
      <Listed
        label="Tokens"
        found={found}
        keyOf={(token) => token.id}
        empty={
          <Empty title="There are no tokens">
            <p>On this machine nobody needs one. From elsewhere, people and workers do.</p>
          </Empty>
        }
        columns={[
          { head: "Name", kind: "name", cell: (token) => token.name },
          { head: "Role", cell: (token) => token.role },
          {
            head: "Made",
            cell: (token) => (
              <>
                <Ago at={token.created_at} />
                {token.created_by && <span className="soft"> by {token.created_by}</span>}
              </>
            ),
          },
          { head: "Last used", cell: (token) => <Ago at={token.last_used_at} /> },
          { head: "Ends", cell: (token) => (token.expires_at ? <Ago at={token.expires_at} /> : "never") },
          {
            head: "Actions",
            kind: "actions",
            cell: (token) => (
              <button type="button" className="btn small danger" onClick={() => revoke(token)}>
                Revoke
              </button>
            ),
          },
        ]}
      />
      <form className="card card-body row wrap-row" onSubmit={submit} aria-label="Make a token">
        <input className="input" name="name" aria-label="What it is for" placeholder="What it is for" required />
        <select className="select" name="role" aria-label="Role">
          {ROLES.map(([role, label]) => (
            <option key={role} value={role}>
              {label}
            </option>
          ))}
        </select>
        <button type="submit" className="btn primary" disabled={making.isPending}>
          Make a token
        </button>
        {making.isError && <Problem error={making.error} />}
      </form>
      <Dialog
        open={making.isSuccess}
        close={() => making.reset()}
        title="Copy it now"
        about="This is the only time that it is shown."
      >
        <code className="pre" style={{ display: "block", margin: "14px 0" }}>
          {making.data?.secret}
        </code>
        <div className="foot">
          <Copy text={making.data?.secret ?? ""} />
          <button type="button" className="btn primary" onClick={() => making.reset()}>
            Done
          </button>
        </div>
      </Dialog>
      <Confirm wish={wish} close={() => setWish(null)} />
    </div>
  );
}
