import { useEffect, useState } from "react";
import { type TaskFields, taskFields, withField } from "./change";

const FIELDS: [keyof TaskFields, string, string][] = [
  ["depends_on", "Waits for", "Tasks, with commas"],
  ["retries", "Retries", "Such as 3"],
  ["timeout", "Timeout", "Such as 20m"],
  ["when", "When", "An expression; skipped unless it is true"],
];

interface Props {
  text: string;
  task: string;
  change: (text: string) => void;
  close: () => void;
}

/** Some fields of one task; the YAML follows each when it is left. */
export function TaskForm({ text, task, change, close }: Props) {
  const fields = taskFields(text, task);
  if (!fields) return null;
  const set = (field: keyof TaskFields) => (value: string) => {
    if (value !== fields[field]) change(withField(text, task, field, value));
  };
  return (
    <form className="task-form stack" aria-label={`Task ${task}`} onSubmit={(event) => event.preventDefault()}>
      <div className="row between">
        <h2>{task}</h2>
        <button type="button" className="btn small quiet" onClick={close}>
          Close
        </button>
      </div>
      <div className="field">
        <label htmlFor="task-run">Run</label>
        <Left id="task-run" value={fields.run} set={set("run")} long />
      </div>
      {FIELDS.map(([field, label, help]) => (
        <div key={field} className="field">
          <label htmlFor={`task-${field}`}>{label}</label>
          <Left id={`task-${field}`} value={fields[field]} set={set(field)} placeholder={help} />
        </div>
      ))}
    </form>
  );
}

interface LeftProps {
  id: string;
  value: string;
  set: (value: string) => void;
  long?: boolean;
  placeholder?: string;
}

/** A field whose value counts when one leaves it. */
function Left({ id, value, set, long, placeholder }: LeftProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const props = {
    id,
    value: typed,
    placeholder,
    onChange: (event: { target: { value: string } }) => setTyped(event.target.value),
    onBlur: () => set(typed),
  };
  return long ? (
    <textarea className="textarea" rows={4} {...props} />
  ) : (
    <input className="input wide mono" {...props} />
  );
}
