/** A field above a list that leaves only what fits; `/` goes there. */
interface Props {
  label: string;
  text: string;
  set: (text: string) => void;
}

export function Filter({ label, text, set }: Props) {
  return (
    <div className="filters">
      <input
        className="input"
        type="search"
        data-filter
        aria-label={label}
        placeholder={label}
        style={{ width: 280 }}
        value={text}
        onChange={(event) => set(event.target.value)}
      />
    </div>
  );
}
