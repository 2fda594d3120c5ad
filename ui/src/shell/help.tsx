import { Kbd } from "../parts/bits";
import { Dialog } from "../parts/dialog";

const KEYS: [string, [string[], string][]][] = [
  [
    "Everywhere",
    [
      [["⌘", "K"], "Go anywhere, do anything"],
      [["?"], "This help"],
      [["/"], "Filter or search"],
      [["t"], "Light or dark"],
      [["p"], "Pause or resume live updates"],
    ],
  ],
  [
    "Go to",
    [
      [["g", "h"], "Home"],
      [["g", "r"], "Runs"],
      [["g", "w"], "Workflows"],
      [["g", "s"], "Schedules"],
      [["g", "b"], "Backfills"],
      [["g", "k"], "Cluster"],
      [["g", "e"], "Editor"],
    ],
  ],
  [
    "Lists",
    [
      [["j"], "Next row"],
      [["k"], "Row before"],
      [["Enter"], "Open it"],
    ],
  ],
];

export function Help({ close }: { close: () => void }) {
  return (
    <Dialog open close={close} title="Keys" about="Everything here can be done without a mouse.">
      <div className="stack" style={{ marginTop: 14 }}>
        {KEYS.map(([part, keys]) => (
          <section key={part}>
            <h3 className="muted">{part}</h3>
            <dl>
              {keys.map(([combination, meaning]) => (
                <div key={meaning} className="row between" style={{ padding: "3px 0" }}>
                  <dt>{meaning}</dt>
                  <dd className="row" style={{ gap: 4 }}>
                    {combination.map((key) => (
                      <Kbd key={key}>{key}</Kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <div className="foot">
        <a className="btn" href="/docs/" target="_blank" rel="noreferrer">
          Documents
        </a>
        <button type="button" className="btn primary" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
