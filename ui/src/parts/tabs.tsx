/** The views of one thing, each with an address. */
import { Link } from "@tanstack/react-router";
import type { ClusterTab, RunTab, WorkflowTab } from "../routes";

type Tab = ClusterTab | RunTab | WorkflowTab;

interface Props<T extends Tab> {
  label: string;
  tabs: readonly [T, string][];
  tab: T;
  to: string;
  params?: Record<string, string>;
  /** The rest of the address that stays when the view changes. */
  search?: object;
}

export function Tabs<T extends Tab>({ label, tabs, tab, to, params, search }: Props<T>) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(([id, words]) => (
        <Link
          key={id}
          to={to}
          params={params}
          search={{ ...search, tab: id }}
          className="tab"
          aria-current={tab === id ? "page" : undefined}
          data-status={tab === id ? "active" : undefined}
        >
          {words}
        </Link>
      ))}
    </nav>
  );
}
