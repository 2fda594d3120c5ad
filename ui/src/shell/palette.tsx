/** ⌘K: pages, workflows, runs and actions by a few letters. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Dialog as Radix } from "radix-ui";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { someRuns, workflows } from "../api/queries";
import { look } from "../parts/state";
import { rank } from "./rank";

export interface Choice {
  id: string;
  label: string;
  kind: string;
  act: () => void;
}

const MOST = 40;

export function Palette({ close, actions }: { close: () => void; actions: Choice[] }) {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [place, setPlace] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const stored = useQuery(workflows).data;
  const recent = useQuery(someRuns({}, 100)).data;
  const choices = useMemo(() => {
    const all: Choice[] = [...actions];
    for (const { name } of stored ?? []) {
      all.push({
        id: `w ${name}`,
        label: name,
        kind: "workflow",
        act: () => void navigate({ to: "/workflows/$name", params: { name } }),
      });
      all.push({
        id: `s ${name}`,
        label: `Start ${name}`,
        kind: "action",
        act: () => void navigate({ to: "/workflows/$name/start", params: { name } }),
      });
    }
    for (const run of recent ?? []) {
      all.push({
        id: `r ${run.id}`,
        label: `${run.workflow} ${run.id}`,
        kind: `run · ${look(run.state).word.toLowerCase()}`,
        act: () => void navigate({ to: "/runs/$run", params: { run: run.id } }),
      });
    }
    return rank(all, text, (choice) => choice.label).slice(0, MOST);
  }, [actions, stored, recent, text, navigate]);
  const chosen = Math.min(place, choices.length - 1);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const pick = (choice: Choice | undefined) => {
    if (!choice) return;
    close();
    choice.act();
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setPlace(Math.min(chosen + 1, choices.length - 1));
    else if (event.key === "ArrowUp") setPlace(Math.max(chosen - 1, 0));
    else if (event.key === "Enter") pick(choices[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Radix.Root open onOpenChange={(open) => !open && close()}>
      <Radix.Portal>
        <Radix.Overlay className="overlay" />
        <Radix.Content className="dialog palette" aria-describedby={undefined}>
          <Radix.Title className="sr">Go anywhere</Radix.Title>
          <input
            role="combobox"
            aria-expanded="true"
            aria-controls="choices"
            aria-label="Page, workflow, run or action"
            aria-activedescendant={choices[chosen] ? `choice-${chosen}` : undefined}
            placeholder="Page, workflow, run or action…"
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setPlace(0);
            }}
            onKeyDown={pressed}
          />
          <div id="choices" className="choices" role="listbox" aria-label="Choices" ref={list}>
            {choices.map((choice, at) => (
              // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the field keeps the focus and names the choice
              <div
                key={choice.id}
                id={`choice-${at}`}
                role="option"
                aria-selected={at === chosen}
                onClick={() => pick(choice)}
                onPointerMove={() => setPlace(at)}
              >
                <span className="ellipsis">{choice.label}</span>
                <small>{choice.kind}</small>
              </div>
            ))}
          </div>
          {choices.length === 0 && <p className="empty">Nothing is called that.</p>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
