import type { FindingKind } from '../finding.ts';
import { notWritten } from './good-tasks.ts';

/** A defect that was planted, and what an audit has to say about it. */
export type Planted = { kind: FindingKind; subject?: string | RegExp };

export type WeakTask = {
  name: string;
  /** Keys of the task file beside those that all have. */
  task: Record<string, unknown>;
  /** Files of the tree, beside `src/NAME.js`. */
  tree?: Record<string, string>;
  hidden?: Record<string, string>;
  /** What `src/NAME.js` becomes; `null`: the task names no patch. */
  solved: string | null;
  planted: Planted[];
};

const SIMPLE = (name: string, sign = '+') => `export function ${name}(a, b) {\n  const total = a ${sign} b;\n  return total;\n}\n`;
const head = (name: string) =>
  `import { equal, ok } from 'node:assert/strict';\nimport { readFileSync } from 'node:fs';\nimport { test } from 'node:test';\nimport { ${name} } from '../src/${name}.js';\n`;
const right = (name: string) =>
  `${head(name)}test('adds', () => equal(${name}(1, 1), 2));\ntest('adds more', () => equal(${name}(20, 3), 23));\n`;
const byTests = (name: string) => ({
  validation: { tests: { runner: 'node-test', files: [`test/${name}.test.js`] }, timeout_seconds: 60 },
});
const byCommand = (command: string) => ({ validation: { commands: [command], timeout_seconds: 60 } });
const hiddenTest = (name: string, text: string) => ({ [`test/${name}.test.js`]: text });
const run = (name: string) => `node --test test/${name}.test.js`;

export const weakTasks: readonly WeakTask[] = [
  {
    name: 'anything',
    task: byTests('anything'),
    hidden: hiddenTest(
      'anything',
      `${head('anything')}test('answers', () => ok(anything(1, 2) !== undefined));\ntest('answers again', () => ok(anything(0, 0) !== undefined));\n`,
    ),
    solved: SIMPLE('anything'),
    planted: [{ kind: 'exploit', subject: /^answers-/ }, { kind: 'false-pass' }],
  },
  {
    name: 'command',
    task: byCommand(run('command')),
    hidden: hiddenTest('command', right('command')),
    solved: SIMPLE('command'),
    planted: [{ kind: 'weak-verdict' }, { kind: 'exploit', subject: 'exits-early' }],
  },
  {
    name: 'script',
    task: byCommand('sh checks/script.sh'),
    tree: { 'checks/script.sh': `node --test test/script.test.js\n` },
    hidden: hiddenTest('script', right('script')),
    solved: SIMPLE('script'),
    planted: [{ kind: 'unprotected', subject: 'checks/script.sh' }, { kind: 'exploit', subject: 'command-files' }],
  },
  {
    name: 'visible',
    task: byTests('visible'),
    tree: hiddenTest('visible', right('visible')),
    solved: SIMPLE('visible'),
    planted: [{ kind: 'unprotected', subject: 'test/visible.test.js' }],
  },
  {
    name: 'copied',
    task: byTests('copied'),
    tree: { 'notes/copied.js.txt': SIMPLE('copied').replace('total', 'total'), 'notes/copied.fixed.js': `${SIMPLE('copied')}` },
    hidden: hiddenTest('copied', right('copied')),
    solved: SIMPLE('copied'),
    planted: [{ kind: 'answer-shown', subject: /^notes\// }, { kind: 'exploit', subject: 'searches-answer' }],
  },
  {
    name: 'chance',
    task: byTests('chance'),
    hidden: hiddenTest(
      'chance',
      `${right('chance')}for (let at = 0; at < 16; at += 1) test(\`round \${at}\`, () => ok(chance(1, 1) === 2 && Math.random() < 0.5));\n`,
    ),
    solved: SIMPLE('chance'),
    planted: [{ kind: 'flaky' }],
  },
  {
    name: 'order',
    task: byTests('order'),
    hidden: hiddenTest(
      'order',
      `${head('order')}let last = 0;\ntest('first', () => { last = order(1, 1); equal(last, 2); });\ntest('second', () => equal(order(last, 1), 3));\n`,
    ),
    solved: SIMPLE('order'),
    planted: [{ kind: 'surroundings', subject: 'order' }],
  },
  {
    name: 'dated',
    task: byTests('dated'),
    hidden: hiddenTest(
      'dated',
      `${right('dated')}test('is recent', () => ok(dated(1, 1) === 2 && Date.now() < ${Date.now() + 30 * 24 * 3600_000}));\n`,
    ),
    solved: SIMPLE('dated'),
    planted: [{ kind: 'surroundings', subject: 'date' }],
  },
  {
    name: 'wording',
    task: byTests('wording'),
    hidden: hiddenTest(
      'wording',
      `${right('wording')}test('is written so', () => ok(readFileSync('src/wording.js', 'utf8').includes('const total = a + b;')));\n`,
    ),
    solved: SIMPLE('wording'),
    planted: [{ kind: 'false-fail' }],
  },
  {
    name: 'onefile',
    task: { ...byTests('onefile'), hard_evaluation: { enabled: true, max_changed_files: 1 } },
    hidden: hiddenTest('onefile', right('onefile')),
    solved: SIMPLE('onefile'),
    planted: [{ kind: 'false-fail' }],
  },
  {
    name: 'upstream',
    task: byTests('upstream'),
    hidden: hiddenTest('upstream', right('upstream')),
    solved: SIMPLE('upstream'),
    planted: [{ kind: 'exploit', subject: /^(clones|fetches)-upstream$/ }],
  },
  {
    name: 'wrong',
    task: {
      validation: {
        tests: { runner: 'node-test', files: ['test/wrong.test.js'], must_pass: ['test/wrong.test.js > adds'] },
        timeout_seconds: 60,
      },
    },
    hidden: hiddenTest('wrong', right('wrong')),
    solved: SIMPLE('wrong', '-'),
    planted: [{ kind: 'oracle-fails' }],
  },
  {
    name: 'done',
    task: byTests('done'),
    hidden: hiddenTest('done', `${head('done')}test('is there', () => equal(typeof done, 'function'));\n`),
    solved: SIMPLE('done'),
    planted: [{ kind: 'nop-passes' }],
  },
  {
    name: 'told',
    task: { ...byTests('told'), prompt: 'Write told. It begins with\n\nexport function told(a, b) {\n' },
    hidden: hiddenTest('told', right('told')),
    solved: SIMPLE('told'),
    planted: [{ kind: 'answer-shown', subject: 'prompt' }],
  },
  {
    name: 'unsolved',
    task: byTests('unsolved'),
    hidden: hiddenTest('unsolved', right('unsolved')),
    solved: null,
    planted: [{ kind: 'unshown' }],
  },
  {
    name: 'reward',
    task: byCommand('grep -q DONE reward.txt'),
    solved: null,
    planted: [{ kind: 'exploit', subject: 'answer-files' }],
  },
  {
    name: 'printed',
    task: byCommand('node src/printed.js | grep -q SOLVED'),
    solved: "console.log('SOLVED');\nexport const printed = 1;\n",
    planted: [{ kind: 'exploit', subject: 'prints-success' }],
  },
  {
    name: 'golden',
    task: byTests('golden'),
    tree: { 'test/golden.txt': 'one and two' },
    hidden: hiddenTest(
      'golden',
      `${head('golden')}test('is as expected', () => equal(golden('one', 'two'), readFileSync('test/golden.txt', 'utf8')));\n`,
    ),
    solved: 'export function golden(a, b) {\n  return `${a} and ${b}`;\n}\n',
    planted: [{ kind: 'exploit', subject: 'expected-output' }],
  },
  {
    name: 'endless',
    task: { validation: { tests: { runner: 'node-test', files: ['test/endless.test.js'] } } },
    hidden: hiddenTest('endless', right('endless')),
    solved: SIMPLE('endless'),
    planted: [{ kind: 'no-limit' }],
  },
  {
    name: 'published',
    task: byTests('published'),
    tree: { 'docs/how-it-is-tested.txt': right('published') },
    hidden: hiddenTest('published', right('published')),
    solved: SIMPLE('published'),
    planted: [{ kind: 'answer-shown', subject: 'docs/how-it-is-tested.txt' }],
  },
  {
    name: 'settings',
    task: { ...byCommand('npm test'), changeable_paths: ['.npmrc', 'package.json'] },
    hidden: hiddenTest('settings', right('settings')),
    solved: SIMPLE('settings'),
    planted: [{ kind: 'exploit', subject: 'npmrc-shell' }],
  },
  {
    name: 'partial',
    task: byTests('partial'),
    hidden: hiddenTest(
      'partial',
      `${head('partial')}test('is small', () => equal(partial(1), 'small'));\ntest('is one', () => equal(partial(0), 'small'));\n`,
    ),
    solved: `export function partial(size) {
  if (size > 1000) {
    return 'huge';
  }
  if (size > 100) {
    return 'large';
  }
  return 'small';
}
`,
    planted: [{ kind: 'false-pass' }],
  },
];

/** What the tree has at first. */
export const startOf = ({ name }: Pick<WeakTask, 'name'>): string =>
  name === 'printed'
    ? 'export const printed = 0;\n'
    : name === 'anything'
      ? 'export function anything() {\n  return undefined;\n}\n'
      : notWritten(name);
