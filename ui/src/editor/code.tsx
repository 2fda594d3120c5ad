/** The editor of YAML: the server's own diagnostics under the text, completion from the published schema. */
import { autocompletion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { indentWithTab } from "@codemirror/commands";
import { lintGutter, type Diagnostic as Mark, setDiagnostics } from "@codemirror/lint";
import { type EditorState, Transaction } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { basicSetup } from "codemirror";
import { type RefObject, useEffect, useRef } from "react";
import type { Diagnostic } from "../api/queries";
import { keysAt, pathOf, type Schema, valuesAt } from "./schema";
import { base } from "./setup";

interface Props {
  text: string;
  change: (text: string) => void;
  diagnostics: Diagnostic[];
  schema: Schema | undefined;
  view: RefObject<EditorView | null>;
}

export function Code({ text, change, diagnostics, schema, view }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef({ change, schema, text });
  latest.current = { change, schema, text };
  useEffect(() => {
    if (!place.current) return;
    const editor = new EditorView({
      doc: latest.current.text,
      parent: place.current,
      extensions: [
        ...base(),
        basicSetup,
        keymap.of([indentWithTab]),
        lintGutter(),
        autocompletion({ override: [(context) => complete(context, latest.current.schema)] }),
        EditorView.contentAttributes.of({ "aria-label": "Workflow as YAML", tabindex: "0" }),
        EditorView.updateListener.of((update) => {
          const theirs = update.transactions.some((each) => each.annotation(Transaction.remote));
          if (update.docChanged && !theirs) latest.current.change(update.state.doc.toString());
        }),
      ],
    });
    view.current = editor;
    return () => {
      view.current = null;
      editor.destroy();
    };
  }, [view]);
  // What the form or the graph has changed.
  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === text) return;
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: text },
      annotations: Transaction.remote.of(true),
    });
  }, [text, view]);
  useEffect(() => {
    const editor = view.current;
    if (editor)
      editor.dispatch(
        setDiagnostics(
          editor.state,
          diagnostics.map((each) => markOf(editor.state, each)),
        ),
      );
  }, [diagnostics, view]);
  return <div className="code" ref={place} />;
}

function markOf(state: EditorState, diagnostic: Diagnostic): Mark {
  const from = offset(state, diagnostic.line ?? 1, diagnostic.column ?? 1);
  const to = diagnostic.end_line ? offset(state, diagnostic.end_line, diagnostic.end_column ?? 1) : from;
  const help = diagnostic.help ? `\n${diagnostic.help}` : "";
  return {
    from,
    to: Math.max(from, to),
    severity: diagnostic.severity,
    message: `${diagnostic.message} [${diagnostic.code}]${help}`,
  };
}

/** A line and a column, both from 1, as a place in the text. */
export function offset(state: EditorState, line: number, column: number): number {
  const found = state.doc.line(Math.min(Math.max(1, line), state.doc.lines));
  // The server counts characters, the editor half-characters of some of them.
  const before = [...found.text].slice(0, column - 1).join("").length;
  return Math.min(found.to, found.from + before);
}

function complete(context: CompletionContext, schema: Schema | undefined): CompletionResult | null {
  if (!schema) return null;
  const lines = context.state.doc.toString().split("\n");
  const line = context.state.doc.lineAt(context.pos);
  const { above, key } = pathOf(lines, line.number - 1);
  const before = line.text.slice(0, context.pos - line.from);
  const word = context.matchBefore(/[\w.-]*/);
  const from = word?.from ?? context.pos;
  if (key !== undefined && before.includes(":")) {
    const options = valuesAt(schema, [...above, key]).map((each) => ({ ...each, type: "enum" }));
    return options.length > 0 ? { from, options } : null;
  }
  if (!context.explicit && from === context.pos) return null;
  const options = keysAt(schema, above).map((each) => ({ ...each, type: "property", apply: `${each.label}: ` }));
  return options.length > 0 ? { from, options } : null;
}
