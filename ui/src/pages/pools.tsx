import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { deletePool, setPool } from "../api/actions";
import { type Pool, pools } from "../api/queries";
import { Empty } from "../parts/bits";
import { Confirm, type Wish } from "../parts/confirm";
import { count } from "../parts/format";
import { Problem } from "../parts/problem";
import { Listed } from "../parts/table";
import { useToasts } from "../parts/toasts";

export function Pools() {
  const found = useQuery(pools);
  const queries = useQueryClient();
  const toasts = useToasts();
  const [wish, setWish] = useState<Wish | null>(null);
  const again = () => void queries.invalidateQueries({ queryKey: ["pools"] });
  const setting = useMutation({
    mutationFn: ({ name, limit }: { name: string; limit: number }) => setPool(name, limit),
    onSuccess: (pool) => {
      toasts.done(`Pool ${pool.name} has ${count(pool.limit)} permits.`);
      again();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const values = new FormData(form);
    setting.mutate(
      { name: String(values.get("name")).trim(), limit: Number(values.get("limit")) },
      { onSuccess: () => form.reset() },
    );
  };
  const remove = (pool: Pool) =>
    setWish({
      title: `Delete pool ${pool.name}?`,
      about: `No job may hold a permit of it; ${count(pool.taken)} do now. Tasks that name it will wait until it is made again.`,
      verb: "Delete",
      danger: true,
      act: () => deletePool(pool.name),
      done: `Pool ${pool.name} is deleted.`,
      afterwards: again,
    });
  return (
    <div className="stack">
      <Listed
        label="Pools"
        found={found}
        keyOf={(pool) => pool.name}
        empty={
          <Empty title="There are no pools">
            <p>A pool limits how many jobs run at once, wherever they run. Tasks name it with `pool`.</p>
          </Empty>
        }
        columns={[
          { head: "Pool", kind: "name", cell: (pool) => pool.name },
          { head: "Permits", cell: (pool) => <span className="num">{`${pool.taken} of ${pool.limit}`}</span> },
          { head: "Waiting", kind: "num", cell: (pool) => (pool.waiting ? count(pool.waiting) : "–") },
          { head: "Holders", cell: (pool) => <Holders pool={pool} /> },
          {
            head: "Actions",
            kind: "actions",
            cell: (pool) => (
              <button type="button" className="btn small danger" onClick={() => remove(pool)}>
                Delete
              </button>
            ),
          },
        ]}
      />
      <form className="card card-body row wrap-row" onSubmit={submit} aria-label="Make or change a pool">
        <input className="input" name="name" aria-label="Name of the pool" placeholder="Name" required />
        <input
          className="input"
          name="limit"
          type="number"
          min={0}
          aria-label="Permits"
          placeholder="Permits"
          required
          style={{ width: 110 }}
        />
        <button type="submit" className="btn primary" disabled={setting.isPending}>
          Make or change
        </button>
        {setting.isError && <Problem error={setting.error} />}
      </form>
      <Confirm wish={wish} close={() => setWish(null)} />
    </div>
  );
}

function Holders({ pool }: { pool: Pool }) {
  const all = pool.holders ?? [];
  return (
    <span className="small">
      {all.slice(0, 4).map((holder) => {
        const [run = "", job] = holder.split(".");
        return (
          <Link
            key={holder}
            to="/runs/$run"
            params={{ run }}
            search={{ job: Number(job) }}
            className="mono"
            style={{ marginRight: 8 }}
          >
            {holder}
          </Link>
        );
      })}
      {all.length > 4 && <span className="muted">and more</span>}
    </span>
  );
}
