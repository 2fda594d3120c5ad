import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";

export interface DialogProps {
  open: boolean;
  close: () => void;
  title: string;
  about?: ReactNode;
  children?: ReactNode;
  className?: string;
}

export function Dialog({ open, close, title, about, children, className = "" }: DialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={(now) => !now && close()}>
      <Radix.Portal>
        <Radix.Overlay className="overlay" />
        <Radix.Content className={`dialog ${className}`}>
          <Radix.Title asChild>
            <h2>{title}</h2>
          </Radix.Title>
          <Radix.Description asChild>
            <div className="soft">{about}</div>
          </Radix.Description>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
