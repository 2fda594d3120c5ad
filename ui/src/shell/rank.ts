/** Finds by a few letters in their order: those at the beginnings of words and next to each other count most. */
export function rank<T>(items: T[], text: string, labelOf: (item: T) => string): T[] {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return items;
  const scored = items.flatMap((item, place) => {
    const score = scoreOf(labelOf(item).toLowerCase(), wanted);
    return score === null ? [] : [{ item, score, place }];
  });
  return scored.sort((a, b) => b.score - a.score || a.place - b.place).map(({ item }) => item);
}

function scoreOf(label: string, wanted: string): number | null {
  let score = 0;
  let from = 0;
  let before = -2;
  for (const letter of wanted) {
    if (letter === " ") continue;
    const at = label.indexOf(letter, from);
    if (at < 0) return null;
    const begins = at === 0 || /[^a-z0-9]/.test(label[at - 1] ?? "");
    score += (begins ? 3 : 0) + (at === before + 1 ? 2 : 0) - Math.min(at - from, 10) * 0.1;
    before = at;
    from = at + 1;
  }
  return score + (label.startsWith(wanted) ? 10 : label.includes(wanted) ? 5 : 0);
}
