import { EditorState } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { base } from "./setup";

/** YAML to read. */
export default function YamlView({ text }: { text: string }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!place.current) return;
    const extensions = [
      ...base(),
      lineNumbers(),
      EditorState.readOnly.of(true),
      EditorView.contentAttributes.of({ "aria-label": "Definition", tabindex: "0" }),
    ];
    const view = new EditorView({ doc: text, extensions, parent: place.current });
    return () => view.destroy();
  }, [text]);
  return <div ref={place} />;
}
