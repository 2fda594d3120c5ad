/** Asks before something is done, and says what will happen. */
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Dialog } from "./dialog";
import { Problem } from "./problem";
import { useToasts } from "./toasts";

export interface Wish<T = unknown> {
  title: string;
  /** What will happen, before it does. */
  about: ReactNode;
  /** What the button says. */
  verb: string;
  danger?: boolean;
  /** Whether a comment may be added. */
  comment?: boolean;
  act: (comment: string) => Promise<T>;
  /** What is said when it is done. */
  done: string;
  afterwards?: (result: T) => void;
}

export function Confirm({ wish, close }: { wish: Wish | null; close: () => void }) {
  return wish ? <Asking key={wish.title} wish={wish} close={close} /> : null;
}

function Asking({ wish, close }: { wish: Wish; close: () => void }) {
  const toasts = useToasts();
  const [comment, setComment] = useState("");
  const doing = useMutation({
    mutationFn: () => wish.act(comment.trim()),
    onSuccess: (result) => {
      toasts.done(wish.done);
      close();
      wish.afterwards?.(result);
    },
  });
  return (
    <Dialog open close={close} title={wish.title} about={wish.about}>
      {wish.comment && (
        <div className="field" style={{ marginTop: 14 }}>
          <label htmlFor="comment">Comment</label>
          <textarea
            id="comment"
            className="textarea"
            rows={2}
            maxLength={2000}
            value={comment}
            onChange={(event) => setComment(event.target.value)}
          />
          <span className="help">Shown in the reason of the job. May be empty.</span>
        </div>
      )}
      {doing.isError && (
        <div style={{ marginTop: 14 }}>
          <Problem error={doing.error} />
        </div>
      )}
      <div className="foot">
        <button type="button" className="btn" onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          className={`btn ${wish.danger ? "danger" : "primary"}`}
          disabled={doing.isPending}
          onClick={() => doing.mutate()}
        >
          {doing.isPending ? "Working…" : wish.verb}
        </button>
      </div>
    </Dialog>
  );
}
