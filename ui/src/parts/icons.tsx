/** Small drawings. Each stands beside words, so none is read aloud. */
import type { ReactNode } from "react";

function icon(paths: ReactNode) {
  return function Icon({ size = 16, className }: { size?: number; className?: string }) {
    return (
      <svg
        width={size}
        height={size}
        viewBox="0 0 16 16"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.6"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
        className={className}
      >
        {paths}
      </svg>
    );
  };
}

export const HomeIcon = icon(<path d="M2.5 7 8 2.5 13.5 7v6.5h-4v-4h-3v4h-4z" />);
export const RunsIcon = icon(<path d="M5 3.5v9l7.5-4.5z" />);
export const WorkflowIcon = icon(
  <>
    <rect x="1.8" y="5.8" width="4.4" height="4.4" rx="1" />
    <rect x="9.8" y="2" width="4.4" height="4.4" rx="1" />
    <rect x="9.8" y="9.6" width="4.4" height="4.4" rx="1" />
    <path d="M6.2 8h1.6m2-3.8H9A1.2 1.2 0 0 0 7.8 5.4v5.2A1.2 1.2 0 0 0 9 11.8h.8" />
  </>,
);
export const ScheduleIcon = icon(
  <>
    <circle cx="8" cy="8" r="5.8" />
    <path d="M8 4.6V8l2.4 1.6" />
  </>,
);
export const ClusterIcon = icon(
  <>
    <rect x="2.2" y="2.6" width="11.6" height="4.4" rx="1.2" />
    <rect x="2.2" y="9" width="11.6" height="4.4" rx="1.2" />
    <path d="M4.8 4.8h.01M4.8 11.2h.01" />
  </>,
);
export const EditIcon = icon(<path d="M3 13h2.6l7-7L10 3.4l-7 7zM9 4.4 11.6 7" />);
export const DocsIcon = icon(<path d="M3.5 2.5h6l3 3v8h-9zM9.5 2.5v3h3M5.8 8.4h4.4M5.8 10.8h4.4" />);
export const SunIcon = icon(
  <>
    <circle cx="8" cy="8" r="2.8" />
    <path d="M8 1.6v1.6M8 12.8v1.6M1.6 8h1.6M12.8 8h1.6M3.5 3.5l1.1 1.1M11.4 11.4l1.1 1.1M3.5 12.5l1.1-1.1M11.4 4.6l1.1-1.1" />
  </>,
);
export const MoonIcon = icon(<path d="M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8z" />);
export const SearchIcon = icon(
  <>
    <circle cx="7" cy="7" r="4.4" />
    <path d="m10.4 10.4 3 3" />
  </>,
);
export const PauseIcon = icon(<path d="M5.4 3.5v9M10.6 3.5v9" />);
export const PlayIcon = icon(<path d="M5 3.5v9l7.5-4.5z" />);
export const MoreIcon = icon(<path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2.4" />);
export const CheckIcon = icon(<path d="m3.5 8.5 3 3 6-7" />);
export const CrossIcon = icon(<path d="m4.2 4.2 7.6 7.6M11.8 4.2l-7.6 7.6" />);
export const StopIcon = icon(<rect x="4" y="4" width="8" height="8" rx="1" />);
export const SkipIcon = icon(<path d="m3.5 4 5 4-5 4zM11.8 4v8" />);
export const RingIcon = icon(<path d="M8 2.2A5.8 5.8 0 1 1 2.2 8" />);
export const DotsIcon = icon(<circle cx="8" cy="8" r="5.8" strokeDasharray="2.2 2.4" />);
export const HandIcon = icon(
  <>
    <circle cx="8" cy="5" r="2.4" />
    <path d="M3.4 13.4c.5-2.6 2.3-4 4.6-4s4.1 1.4 4.6 4" />
  </>,
);
export const RetryIcon = icon(<path d="M13 8a5 5 0 1 1-1.6-3.7M13 2.4v2.8h-2.8" />);
export const WarnIcon = icon(<path d="M8 2.4 14.4 13H1.6zM8 6.4v3M8 11.3h.01" />);
export const LinkIcon = icon(
  <path d="M6.6 9.4 9.4 6.6M7 4.4l1.4-1.4a2.8 2.8 0 0 1 4 4L11 8.4M9 11.6 7.6 13a2.8 2.8 0 0 1-4-4L5 7.6" />,
);
