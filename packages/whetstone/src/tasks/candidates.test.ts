import { rmSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { makeHistory } from './__fixtures__/history.ts';
import { START, testOf } from './__fixtures__/small-project.ts';
import { findCandidates } from './candidates.ts';
import type { Draft } from './draft.ts';
import type { Method } from './methods.ts';

const lines = (...last: string[]) => `${['a', 'b', 'c', 'd', 'e', ...last].join('\n')}\n`;
const repo = makeHistory([
  START,
  { message: 'Add list', files: { 'src/list.js': `export default \`${lines()}\`;\n` } },
  {
    message: 'Begin with zero',
    files: {
      'src/list.js': `export default \`0\n${lines()}\`;\n`,
      'src/zero.js':
        'export const zero = () => {\n  const text = "0";\n  let all = text;\n  return all;\n};\n',
      'test/list.test.js': testOf('list', 'assert.ok(it.startsWith("0"))'),
      'package.json': '{"type":"module","scripts":{"test":"node --test"},"private":true}\n',
    },
  },
  {
    message: 'Change half',
    files: { 'src/half.js': 'export default (n) => n / 4;\n', 'test/half.test.js': testOf('half', 'it(1);') },
  },
  {
    message: 'Change half again',
    files: { 'src/half.js': 'export default (n) => n / 2;\n', 'test/half.test.js': testOf('half', 'it(0);') },
  },
  {
    message: 'End with f',
    files: {
      'src/list.js': `export default \`0\n${lines('f')}\`;\n`,
      'test/list.test.js': testOf('list', 'assert.ok(it.startsWith("0"))', 'assert.ok(it.includes("f"))'),
    },
  },
]);
afterAll(() => rmSync(repo, { recursive: true }));

async function draftsOf(method: Method): Promise<Record<string, Draft | string>> {
  const found = await findCandidates(method, repo, { maxFiles: 15, maxLines: 600 });
  const drafts = found.candidates.map(async (one) => [one.subject, await found.draft(one)] as const);
  return Object.fromEntries(await Promise.all(drafts));
}

const textOf = (draft: Draft | string | undefined, path: string) =>
  typeof draft === 'object' && draft.start.find((file) => file.path === path)?.content?.toString();

test('revert takes the sources of a commit back from HEAD, and keeps what came later and what is not a source file', async () => {
  const drafts = await draftsOf('revert');
  expect(drafts['Change half']).toBe('its sources have changed since, and cannot be taken back');
  const zero = drafts['Begin with zero'];
  expect(textOf(zero, 'src/list.js')).toBe(`export default \`${lines('f')}\`;\n`);
  expect(zero).toMatchObject({
    start: [{ path: 'src/list.js' }, { path: 'src/zero.js', content: null }],
    // It has changed since, so an earlier version of it cannot be known.
    earlierTests: [{ path: 'test/list.test.js', content: null }],
    tests: { runner: 'node-test', files: ['test/list.test.js'] },
    goldPatch: expect.stringContaining('+++ b/src/zero.js\n@@ -0,0 +1,5 @@\n+export const zero'),
  });
  expect(drafts['End with f']).toMatchObject({
    earlierTests: [{ path: 'test/list.test.js', content: expect.any(Buffer) }],
    goldPatch: expect.stringContaining('\n+f\n'),
  });
});

test('remove takes out a function that a test imports or names, or all functions of a file that has only short ones', async () => {
  const drafts = await draftsOf('remove');
  expect(Object.keys(drafts)).toEqual(['half of src/half.js']);
  expect(textOf(drafts['half of src/half.js'], 'src/half.js')).toBe(
    "export default (n) => {\n  throw new Error('default is not written yet');\n};\n",
  );
  const { leftOut } = await findCandidates('remove', repo, { maxFiles: 15, maxLines: 600 });
  expect(leftOut).toEqual([
    { subject: 'src/list.js', reason: 'no function was found in it' },
    { subject: 'zero of src/zero.js', reason: 'no test names or imports it' },
  ]);
});

test('remove takes the tests of what uses a function that no test names, if that can be known', async () => {
  const long = (name: string, call: string) =>
    `${name}(n) {\n  let m = n;\n  m += 1;\n  return ${call};\n}\n`;
  const testsIn = async (...more: string[]) => {
    const source = [
      long('function inner', 'm'),
      long('function middle', 'inner(m)'),
      long('export function outer', 'middle(m)'),
      long('export function other', 'm'),
    ];
    const used = makeHistory([
      START,
      {
        message: 'Use',
        files: {
          'src/used.js': [...source, ...more].join(''),
          'test/outer.test.js': "import { outer } from '../src/used.js';\n",
          'test/other.test.js': "import { other } from '../src/used.js';\n",
        },
      },
    ]);
    const found = await findCandidates('remove', used, { maxFiles: 15, maxLines: 600 });
    const inner = found.candidates.find(({ subject }) => subject === 'inner of src/used.js');
    const draft = inner && (await found.draft(inner));
    rmSync(used, { recursive: true });
    return typeof draft === 'object' && draft.tests.files;
  };
  expect(await testsIn()).toEqual(['test/outer.test.js']);
  const both = ['test/other.test.js', 'test/outer.test.js'];
  expect(await testsIn('export const inverse = [inner];\n')).toEqual(both);
  expect(await testsIn('export default (n) => middle(n);\n')).toEqual(both);
});

test('remove takes test files that call a function before those that only name it', async () => {
  const names = Array.from({ length: 6 }, (_, index) => `test/names${index}.test.js`);
  const wide = makeHistory([
    START,
    {
      message: 'Widen',
      files: {
        'src/wide.js':
          'export const wide = (n) => {\n  let m = n;\n  m += 1;\n  return m;\n};\nwide.least = 1;\n',
        ...Object.fromEntries(
          names.map((path) => [path, "import { wide } from '../src/wide.js';\nwide.least;\n"]),
        ),
        'test/uses.test.js': "import { wide } from '../src/wide.js';\nwide(1);\n",
      },
    },
  ]);
  const found = await findCandidates('remove', wide, { maxFiles: 15, maxLines: 600 });
  const candidate = found.candidates.find(({ subject }) => subject === 'wide of src/wide.js');
  expect(candidate && (await found.draft(candidate))).toMatchObject({
    tests: { files: ['test/uses.test.js', ...names.slice(0, 4)] },
  });
  rmSync(wide, { recursive: true });
});

test('remove says in which line a function was, because a file can have two of one name', async () => {
  const run = (value: number) => `  run() {\n    let n = ${value};\n    n += 1;\n    return n;\n  },\n`;
  const twice = makeHistory([
    START,
    {
      message: 'Run',
      files: {
        'src/twice.js': `export const one = {\n${run(1)}};\nexport const two = {\n${run(2)}};\n`,
        'test/twice.test.js': testOf('twice', 'it.run();'),
      },
    },
  ]);
  const found = await findCandidates('remove', twice, { maxFiles: 15, maxLines: 600 });
  const drafts = await Promise.all(found.candidates.map((one) => found.draft(one)));
  expect(drafts.map((draft) => typeof draft === 'object' && draft.missing).sort()).toEqual([
    'The code of half in src/half.js, line 1,',
    'The code of run in src/twice.js, line 2,',
    'The code of run in src/twice.js, line 9,',
  ]);
  rmSync(twice, { recursive: true });
});
