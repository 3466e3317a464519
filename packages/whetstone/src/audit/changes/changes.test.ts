import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openSourceParser, type SourceParser } from '../../syntax/source-parser.ts';
import { type GoodTask, goodTasks } from '../__fixtures__/good-tasks.ts';
import { addedLines, type SolvedSource } from '../solved-tree.ts';
import type { ChangedSolution } from './changed-solution.ts';
import { choose } from './choose.ts';
import { mutateSource } from './mutate-source.ts';
import { mutateText } from './mutate-text.ts';
import { refactorSource } from './refactor-source.ts';

let parse: SourceParser;
beforeAll(async () => {
  parse = await openSourceParser();
});

const whole = (path: string, text: string): SolvedSource => ({
  path,
  text,
  lines: new Set(text.split('\n').map((_, index) => index + 1)),
});
const sourceOf = ({ name, solved }: GoodTask) => whole(`src/${name}.js`, solved);
const listed = (all: readonly ChangedSolution[] | undefined) =>
  all?.map(({ kind, what }) => `${kind}: ${what}`);

/** Whether a changed solution answers every case as it should. */
async function isRight({ name, cases }: GoodTask, { files }: ChangedSolution): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'changes-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    for (const [path, text] of files) writeFileSync(join(folder, basename(path)), text);
    const made = await import(join(folder, `${name}.js`));
    return cases.every(([given, answer]) => {
      try {
        return JSON.stringify(made[name](...given)) === JSON.stringify(answer);
      } catch {
        return false;
      }
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('refactors', () => {
  test.each(goodTasks)('of $name answer every case as the solution does', async (task) => {
    const refactors = await refactorSource(sourceOf(task), parse);
    expect(refactors.length).toBeGreaterThan(2);
    for (const one of refactors) expect(await isRight(task, one), one.kind).toBe(true);
  });

  test('of Python keep keyword arguments, attributes and names that another function has', async () => {
    const text = `import re

def first(text, limit=3):
    words = re.split(r'x', text)
    result = words[:limit]
    if result:
        return dict(words=result)
    else:
        return None

def second(words):
    joined = '-'.join(words)
    return joined
`;
    const refactors = await refactorSource(whole('pkg/a.py', text), parse);
    const by = new Map(refactors.map(({ kind, files }) => [kind, files.get('pkg/a.py')]));
    expect([...by.keys()]).toEqual(['comments', 'whitespace', 'renamed locals', 'inverted if']);
    expect(by.get('renamed locals')).toContain('resultValue = words[:limit]');
    expect(by.get('renamed locals')).toContain('dict(words=resultValue)');
    expect(by.get('inverted if')).toContain(`    if not (result):
        return None
    else:
        return dict(words=result)`);
  });
});

describe('mutants', () => {
  test('change operators, conditions, constants, answers and statements of the added lines only', async () => {
    const text = `import { seen } from './seen.js';
export function f(a) {
  let count = 1;
  seen.push(a);
  if (a > 2 && count) return 'big';
  console.log('not this');
  throw new Error('nor this');
}
export const untouched = 1 + 1;
`;
    const source = { path: 'src/f.js', text, lines: new Set([1, 2, 3, 4, 5, 6, 7]) };
    expect(listed(await mutateSource(source, parse))).toEqual([
      'constant: src/f.js:3: `1` → `2`',
      'removed statement: src/f.js:4: `seen.push(a);` → `;`',
      'condition: src/f.js:5: `a > 2 && count` → `!(a > 2 && count)`',
      'operator: src/f.js:5: `&&` → `||`',
      'operator: src/f.js:5: `>` → `>=`',
      'constant: src/f.js:5: `2` → `3`',
      "return: src/f.js:5: `'big'` → `undefined`",
      "constant: src/f.js:5: `'big'` → `'big~'`",
    ]);
  });

  test('of Python are written in Python', async () => {
    const text = `def f(a):
    """Says."""
    done(a)
    if a is None or a == 1:
        return True
    return 'x' if a in (2,) else -a
`;
    expect(listed(await mutateSource(whole('f.py', text), parse))).toEqual([
      'removed statement: f.py:3: `done(a)` → `pass`',
      'condition: f.py:4: `a is None or a == 1` → `not (a is None or a == 1)`',
      'operator: f.py:4: `or` → `and`',
      'operator: f.py:4: `is` → `is not`',
      'operator: f.py:4: `==` → `!=`',
      'constant: f.py:4: `1` → `2`',
      'return: f.py:5: `True` → `None`',
      'constant: f.py:5: `True` → `False`',
      "return: f.py:6: `'x' if a in (2,) else -a` → `None`",
      'condition: f.py:6: `a in (2,)` → `not (a in (2,))`',
      "constant: f.py:6: `'x'` → `'x~'`",
      'operator: f.py:6: `in` → `not in`',
      'constant: f.py:6: `2` → `3`',
    ]);
  });

  test.each(goodTasks.filter(({ name }) => !/roman|ranges/.test(name)))(
    'of $name do not answer every case, but for those that do the same',
    async (task) => {
      const mutants = (await mutateSource(sourceOf(task), parse)) ?? [];
      const right: string[] = [];
      for (const one of mutants) if (await isRight(task, one)) right.push(one.what);
      const same: Record<string, string[]> = {
        clamp: ['src/clamp.js:2: `<` → `<=`', 'src/clamp.js:5: `>` → `>=`'],
        overlap: ['src/overlap.js:4: `>` → `>=`'],
      };
      expect(mutants.length).toBeGreaterThan(4);
      expect(right).toEqual(same[task.name] ?? []);
    },
  );

  test('of a language without a parser change its lines', () => {
    const source = whole('a.go', '// a == b\nif a == 3 {\n  return true\n}\n');
    expect(listed(mutateText(source))).toEqual([
      'operator: a.go:2: `==` → `!=`',
      'constant: a.go:2: `3` → `4`',
      'constant: a.go:3: `true` → `false`',
    ]);
  });

  test('are chosen evenly over their kinds, and each time the same', () => {
    const all = ['a', 'a', 'a', 'b'].map((kind, index) => ({ kind, what: String(index), files: new Map() }));
    const chosen = choose(all, 2);
    expect(chosen.map(({ kind }) => kind).toSorted()).toEqual(['a', 'b']);
    expect(choose(all.toReversed(), 2)).toEqual(chosen);
  });
});

test('the lines that a patch adds are counted in the new file', () => {
  const patch = `diff --git a/a.js b/a.js
--- a/a.js
+++ b/a.js
@@ -1,3 +1,4 @@
 one
-two
+2
+2b
 three
`;
  expect([...addedLines(patch)]).toEqual([['a.js', new Set([2, 3])]]);
});
