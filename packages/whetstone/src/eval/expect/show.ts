const LONGEST = 120;

/** A value in one short line, for messages. */
export function show(value: unknown): string {
  if (typeof value === 'string') return shorten(JSON.stringify(value));
  return shorten(value instanceof RegExp ? String(value) : asJson(value));
}

/** A text in one line, cut in the middle if it is long. */
export function shorten(text: string, longest = LONGEST): string {
  const line = /[^\S ]| {2}|^ | $/.test(text) ? text.replaceAll(/\s+/g, ' ').trim() : text;
  if (line.length <= longest) return line;
  const half = Math.floor((longest - 3) / 2);
  return `${line.slice(0, half).toWellFormed()} … ${line.slice(-half).toWellFormed()}`;
}

function asJson(value: unknown): string {
  try {
    return (
      JSON.stringify(value, (_, part: unknown) =>
        typeof part === 'bigint' || part instanceof RegExp || typeof part === 'function'
          ? String(part)
          : isLabelled(part)
            ? part.label
            : part,
      ) ?? String(value)
    );
  } catch {
    return String(value);
  }
}

const isLabelled = (part: unknown): part is { label: string; match: unknown } =>
  typeof part === 'object' && part !== null && 'match' in part && 'label' in part;

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
