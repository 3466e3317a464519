import type { HistoryStep } from './history.ts';

/** A test file of Node's runner for the default export of a module. */
export const testOf = (name: string, ...checks: string[]): string =>
  [
    `import assert from 'node:assert';`,
    `import { test } from 'node:test';`,
    `import it from '../src/${name}.js';`,
    ...checks.map((check, index) => `test('${name} ${index + 1}', async () => { ${check} });`),
    '',
  ].join('\n');

const equal = (call: string, value: string) => `assert.equal(${call}, ${value});`;

export const START: HistoryStep = {
  message: 'Start',
  files: {
    'package.json': '{"type":"module","scripts":{"test":"node --test"}}\n',
    'README.md': 'A project.\n',
    'src/half.js': 'export default (n) => n / 3;\n',
    'test/half.test.js': testOf('half', equal('it(0)', '0')),
  },
};

/** What the small history needs from outside: a server that only answers on this machine, and a file that counts. */
export type Outside = { url: string; counter: string };

/** Forty commits as a project has them. */
export function smallProject({ url, counter }: Outside): HistoryStep[] {
  const fix = (name: string, wrong: string, right: string, ...checks: string[]): [HistoryStep, HistoryStep] => [
    { message: `Add ${name}`, files: { [`src/${name}.js`]: wrong } },
    { message: `Fix ${name}`, files: { [`src/${name}.js`]: right, [`test/${name}.test.js`]: testOf(name, ...checks) } },
  ];
  const [addUpper, fixUpper] = fix(
    'upper',
    'export default (s) => s;\n',
    'export default (s) => s.toUpperCase();\n',
    equal('it("a")', '"A"'),
    equal('it("A")', '"A"'),
  );
  const [addTrim, fixTrim] = fix(
    'trim',
    'export default (s) => s;\n',
    'export default (s) => s.trim();\n',
    equal('it(" a ")', '"a"'),
    `const { existsSync, appendFileSync, readFileSync } = await import('node:fs');
     appendFileSync(${JSON.stringify(counter)}, 'x'); it('');
     assert.ok([0, 1].includes(readFileSync(${JSON.stringify(counter)}, 'utf8').length % 4));`,
    `assert.equal(await (await fetch(${JSON.stringify(url)})).text(), it(' yes '));`,
    `assert.ok(it(' ') === '' && Date.now() < ${Date.now() + 200 * 86_400_000});`,
  );
  const [addFlaky, fixFlaky] = fix(
    'flaky',
    'export default () => 1;\n',
    'export default () => 2;\n',
    `const { appendFileSync, readFileSync } = await import('node:fs');
     const file = ${JSON.stringify(`${counter}-2`)}; appendFileSync(file, it() === 2 ? 'x' : '');
     assert.ok(it() === 2 && readFileSync(file, 'utf8').length % 2);`,
  );
  const [addSlow, fixSlow] = fix(
    'slow',
    'export default () => 1;\n',
    'export default () => 2;\n',
    `await new Promise((done) => setTimeout(done, 60_000)); ${equal('it()', '2')}`,
  );
  const [addLow, fixLow] = fix('low', 'export default (s) => s;\n', 'export default (s) => s.toLowerCase();\n', equal('it("A")', '"a"'));
  const [addWide, fixWide] = fix('wide', 'export default 1;\n', 'export default 2;\n', equal('it', '2'));
  const vitestTest = `import { expect, test } from 'vitest';
import { count } from './count.js';
test('first', () => { globalThis.seen = 1; expect(count([1, 2])).toBe(2); });
test('second', () => { expect(globalThis.seen).toBe(1); expect(count([])).toBe(0); });
`;
  const steps: HistoryStep[] = [
    START,
    { message: 'Write more in the README', files: { 'README.md': 'A better project.\n' } },
    {
      message: 'Halve numbers right (#12)',
      files: {
        'src/half.js': 'export default (n) => n / 2;\n',
        'test/half.test.js': testOf('half', equal('it(0)', '0'), equal('it(8)', '4')),
      },
    },
    addUpper,
    fixUpper,
    { message: 'Add a workflow', files: { '.github/workflows/ci.yml': 'on: push\n' } },
    {
      message: 'Test half with more numbers',
      files: { 'test/half.test.js': testOf('half', equal('it(0)', '0'), equal('it(8)', '4'), equal('it(2)', '1')) },
    },
    addTrim,
    fixTrim,
    {
      message: 'Simplify upper',
      files: {
        'src/upper.js': 'const upper = (s) => s.toUpperCase();\nexport default upper;\n',
        'test/upper.test.js': testOf('upper', equal('it("a")', '"A"'), equal('it("b")', '"B"')),
      },
    },
    addFlaky,
    fixFlaky,
    addSlow,
    fixSlow,
    {
      message: 'Update a dependency',
      files: {
        'package-lock.json': '{"lockfileVersion":3}\n',
        'src/half.js': 'export default (n) => n / 2; // as before\n',
        'test/half.test.js': testOf('half', equal('it(2)', '1')),
      },
    },
    {
      message: 'Rename trim to strip',
      files: {
        'src/trim.js': null,
        'src/strip.js': 'export default (s) => s.trim();\n',
        'test/trim.test.js': null,
        'test/strip.test.js': testOf('strip', equal('it(" a ")', '"a"')),
      },
    },
    { message: 'Build', files: { 'dist/index.js': 'export default 1;\n' } },
    { message: 'Add a logo', files: { 'logo.png': Buffer.from([0x89, 0x50, 0, 1, 2, 3]) } },
    {
      message: 'Add a helper that tests cannot load before',
      files: { 'src/fresh.js': 'export default 1;\n', 'test/fresh.test.js': testOf('fresh', equal('it', '1')) },
    },
    { message: 'Use a submodule', files: { '.gitmodules': '', 'lib/other': { submodule: 'a'.repeat(40) } } },
    addLow,
    {
      message: 'Merge branch low\n\nLetters are lowered by it.',
      branch: [
        { message: 'Say what low does', files: { 'docs/low.md': 'It lowers letters.\n' } },
        fixLow,
      ],
      files: { ...fixLow.files, 'docs/low.md': 'It lowers letters.\n' },
    },
    { message: 'Drop the submodule', files: { '.gitmodules': null, 'lib/other': null } },
    {
      message: 'Change everything',
      files: Object.fromEntries([
        ...Array.from({ length: 16 }, (_, index) => [`src/part-${index}.js`, 'export default 1;\n']),
        ['test/part.test.js', testOf('part-1', equal('it', '1'))],
      ]),
    },
    addWide,
    {
      ...fixWide,
      message: 'Fix the wide value\n\nThe module wide exports the number one. Everyone who imports it expects two, because the documentation has always said so. Export two instead, and keep the default export as it is.\n\nSigned-off-by: Ada <ada@example.com>',
    },
    {
      message: 'Add a package with Vitest',
      files: {
        'packages/count/package.json': '{"type":"module","scripts":{"test":"vitest run"}}\n',
        'packages/count/count.js': 'export const count = (list) => list.length + 1;\n',
      },
    },
    {
      message: 'Count right',
      files: {
        'packages/count/count.js': 'export const count = (list) => list.length;\n',
        'packages/count/count.test.js': vitestTest,
      },
    },
    { message: 'Revert "Count right"', files: { 'packages/count/count.js': 'export const count = (list) => list.length + 1;\n', 'packages/count/count.test.js': null } },
    {
      message: 'Test both packages',
      files: {
        'packages/count/count.js': 'export const count = (list) => list.length + 0;\n',
        'packages/count/count.test.js': vitestTest.replace('second', 'third'),
        'test/half.test.js': testOf('half', equal('it(4)', '2')),
      },
    },
    {
      message: 'fixup! Count right',
      files: { 'src/half.js': 'export default (n) => n * 0.5;\n', 'test/half.test.js': testOf('half', equal('it(6)', '3')) },
    },
    {
      message: 'Break half and its test',
      files: { 'src/half.js': 'export default (n) => n;\n', 'test/half.test.js': testOf('half', equal('it(6)', '3')).replace('half 1', 'half broken') },
    },
    ...Array.from({ length: 8 }, (_, index) => ({
      message: `Release 1.0.${index}`,
      files: { 'CHANGELOG.md': `1.0.${index}\n` },
    })),
  ];
  return steps;
}
