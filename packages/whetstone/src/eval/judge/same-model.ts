/**
 * Whether two names mean the same model: `openai/gpt-5.5`, `gpt-5.5` and `gpt-5.5-2026-01-15` do. A provider answers with
 * the dated name of the model that was asked for.
 */
export function isSameModel(one: string, other: string): boolean {
  const [a, b] = [bare(one), bare(other)];
  return a === b || isDated(a, b) || isDated(b, a);
}

const bare = (name: string): string => name.slice(name.lastIndexOf('/') + 1).toLowerCase();

const isDated = (name: string, dated: string): boolean =>
  dated.startsWith(name) && /^[-@]\d{4}-?\d{2}-?\d{2}$/.test(dated.slice(name.length));
