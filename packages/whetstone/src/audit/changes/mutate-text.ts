import type { SolvedSource } from '../solved-tree.ts';
import { type ChangedSolution, describeEdit, edited } from './changed-solution.ts';

/** Changes of a line of a language whose syntax nobody knows here. One that does not compile fails by itself. */
const CHANGES: readonly (readonly [kind: string, pattern: RegExp, instead: (found: string) => string])[] = [
  ['operator', /==|!=|<=|>=|&&|\|\|/, (found) => SWAPPED[found] ?? found],
  ['operator', /(?<= )[+*-](?= )/, (found) => (found === '+' ? '-' : '+')],
  ['constant', /\b\d+\b/, (found) => String(Number(found) + 1)],
  ['constant', /\b(true|false)\b/, (found) => (found === 'true' ? 'false' : 'true')],
];
const SWAPPED: Readonly<Record<string, string>> = {
  ...{ '==': '!=', '!=': '==', '<=': '<', '>=': '>', '&&': '||', '||': '&&' },
};
const COMMENT = /^\s*(\/\/|#|\*|\/\*|--|;)/;

/** Wrong versions of a source that no parser reads. */
export function mutateText(source: SolvedSource): ChangedSolution[] {
  const found: ChangedSolution[] = [];
  let at = 0;
  for (const [index, line] of source.text.split('\n').entries()) {
    const start = at;
    at += line.length + 1;
    if (!source.lines.has(index + 1) || COMMENT.test(line)) continue;
    for (const [kind, pattern, instead] of CHANGES) {
      const match = pattern.exec(line);
      if (!match) continue;
      const from = start + match.index;
      const edit = { from, to: from + match[0].length, text: instead(match[0]) };
      const files = new Map([[source.path, edited(source.text, [edit])]]);
      found.push({ kind, what: describeEdit(source, edit), files });
    }
  }
  return found;
}
