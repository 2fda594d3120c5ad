/** How text looks and works in every editor here. */
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { nonce } from "../nonce";

const look = EditorView.theme({
  "&": { fontSize: "13px", backgroundColor: "var(--surface)", color: "var(--text)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--text-3)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 25%, transparent)",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    border: "1px solid var(--line)",
    borderRadius: "8px",
    boxShadow: "var(--shadow)",
    color: "var(--text)",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent-soft)", color: "var(--text)" },
  ".cm-completionDetail": { color: "var(--text-3)", fontStyle: "normal" },
  ".cm-diagnostic": { padding: "6px 10px", maxWidth: "60ch" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--bad-solid)" },
  ".cm-diagnostic-warning": { borderLeft: "3px solid var(--warn-solid)" },
  ".cm-changedLine": { backgroundColor: "var(--run-soft)" },
  "&.cm-editor .cm-collapsedLines": { background: "var(--sunken)", color: "var(--text-3)" },
  "&.cm-editor .cm-collapsedLines:before, &.cm-editor .cm-collapsedLines:after": { content: '"⋯"' },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--text)" },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--run)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--ok)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--warn)" },
  { tag: tags.comment, color: "var(--text-3)", fontStyle: "italic" },
  { tag: [tags.punctuation, tags.separator, tags.meta], color: "var(--text-3)" },
]);

export function base(): Extension[] {
  return [EditorView.cspNonce.of(nonce()), look, yaml(), syntaxHighlighting(colours)];
}
