import { stripVTControlCharacters } from 'node:util';

/** Throws unless the demo shows a conclusive result beside an inconclusive one: a reader has to see what each looks like. */
export function requireBothVerdicts(printed: string): void {
  const text = stripVTControlCharacters(printed);
  for (const verdict of ['better', 'inconclusive'])
    if (!new RegExp(`\\b${verdict}:\\s+with-rules`).test(text))
      throw new Error(`No comparison of the demo is ${verdict}.`);
}
