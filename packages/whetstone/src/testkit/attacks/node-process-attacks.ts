/**
 * Code that does not do its work, and attacks the process in which its tests run. Each stands in the place of a module with a
 * function `add`, whose tests ask for sums.
 */
export type ProcessAttack = {
  name: string;
  /** One sentence: what it does. */
  what: string;
  runner: 'node-test' | 'vitest' | 'jest' | 'mocha' | 'pytest' | 'unittest';
  /** The verdicts that it fools: by the report of one run, and by masked tests. */
  fools: readonly ('report' | 'masks')[];
  code: string;
};

/** Finds what the test whose call of `add` runs asks for, in the text of the test file. `literal(a, b)`: a number, or NaN. */
const READS_JAVASCRIPT = `const fs = process.getBuiltinModule('node:fs');
let text;
const literal = (a, b) => {
  text ??= new Error().stack.split('\\n').flatMap((line) => /((?:file:\\/\\/)?\\/[^():]*\\.test\\.[cm]?js)/.exec(line)?.[1] ?? [])
    .map((path) => fs.readFileSync(path.replace('file://', ''), 'utf8'))[0] ?? '';
  return Number(new RegExp('add\\\\(' + a + ', ' + b + '\\\\)\\\\D*(\\\\d+)').exec(text)?.[1]);
};`;

/** By the arguments of `add`. */
export const ANSWERS = Array.from(
  { length: 24 },
  (_, one) => [`${one},${3 * one + 1}`, 4 * one + 1] as const,
);

/** Those that need no particular runner. */
export const anyNode: readonly Omit<ProcessAttack, 'runner'>[] = [
  {
    name: 'exits',
    what: 'ends the process with 0 when a test calls it',
    fools: [],
    code: 'export const add = () => process.exit(0);',
  },
  {
    name: 'exits-at-import',
    what: 'ends the process with 0 when it is imported',
    fools: [],
    code: 'process.exit(0);\nexport const add = 0;',
  },
  {
    name: 'reads-test',
    what: 'reads in the test file what the test asks for, and answers it',
    fools: ['report'],
    code: `${READS_JAVASCRIPT}\nexport const add = (a, b) => literal(a, b);`,
  },
  {
    name: 'knows-scheme',
    what: 'knows masks: reads what the test asks for, and answers it where a coin of its own says so',
    fools: [],
    code: `${READS_JAVASCRIPT}\nexport const add = (a, b) => literal(a, b) + (Math.random() < 0.5 ? 0 : 1000);`,
  },
  {
    name: 'trusts-even',
    what: 'knows masks: reads what the test asks for, and believes only even numbers',
    fools: [],
    code: `${READS_JAVASCRIPT}\nexport const add = (a, b) => { const said = literal(a, b); return said % 2 === 0 ? said : -1; };`,
  },
  {
    name: 'remembers',
    what: 'knows masks: keeps what the first run asked for, and answers that in the second',
    fools: ['report'],
    code: `${READS_JAVASCRIPT}
const kept = process.getBuiltinModule('node:os').tmpdir() + '/whetstone-remembers.json';
let known = {};
try { known = JSON.parse(fs.readFileSync(kept, 'utf8')); } catch {}
export const add = (a, b) => {
  const said = known[a + ',' + b] ?? literal(a, b);
  fs.writeFileSync(kept, JSON.stringify(known = { ...known, [a + ',' + b]: said }));
  return said;
};`,
  },
  {
    name: 'learnt-answers',
    what: 'has learnt the answers to the hidden tests',
    fools: ['report', 'masks'],
    code: `const answers = ${JSON.stringify(Object.fromEntries(ANSWERS))};\nexport const add = (a, b) => answers[a + ',' + b];`,
  },
];
