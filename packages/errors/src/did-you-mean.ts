import { closest, distance } from 'fastest-levenshtein';

/**
 * The known word that was probably meant: few letters off, the only one that starts so, or the same but for
 * case, `-` and `_`.
 */
export function didYouMean(word: string, known: readonly string[]): string | undefined {
  const same = known.find((candidate) => bare(candidate) === bare(word));
  if (same !== undefined) return same;
  if (known.length === 0) return undefined;
  const longer = word.length >= 3 ? known.filter((candidate) => candidate.startsWith(word)) : [];
  if (longer.length === 1) return longer[0];
  const nearest = closest(word, [...known]);
  const reach = Math.floor(Math.max(word.length, nearest.length) * 0.4);
  return distance(word, nearest) <= reach ? nearest : undefined;
}

/** `did you mean x?`, or the list of what there is. */
export function suggestion(word: string, known: readonly string[], what = 'known'): string {
  const meant = didYouMean(word, known);
  const list = `${what}: ${known.length === 0 ? 'none' : known.join(', ')}`;
  return meant === undefined ? list : `did you mean ${meant}?\n${list}`;
}

function bare(word: string): string {
  return word.toLowerCase().replace(/[-_\s]/g, '');
}
