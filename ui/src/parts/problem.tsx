import { refusal } from "../api/client";
import { WarnIcon } from "./icons";

/** What went wrong, with its code and a way out. */
export function Problem({ error, again }: { error: unknown; again?: () => void }) {
  const problem = refusal(error);
  return (
    <div className="notice bad" role="alert">
      <WarnIcon className="tone-bad" />
      <div className="stack tight">
        <div>
          <strong>{sentence(problem.message)}</strong>{" "}
          {problem.status > 0 && (
            <a href={`/docs/errors/${problem.code}`} target="_blank" rel="noreferrer">
              {problem.code}
            </a>
          )}
        </div>
        {problem.diagnostics.map((each) => (
          <div key={`${each.path}${each.message}`} className="small">
            {each.line ? `${each.line}:${each.column} ` : ""}
            {each.message} [{each.code}]{each.help ? ` · ${each.help}` : ""}
          </div>
        ))}
        {problem.hint && <div className="soft">{sentence(problem.hint)}</div>}
        {again && (
          <div>
            <button type="button" className="btn small" onClick={again}>
              Try again
            </button>
          </div>
        )}
      </div>
    </div>
  );
}

export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}
