import fc from 'fast-check';
import { marked } from 'marked';
import { expect, test } from 'vitest';
import { hostileRun, sampleRun } from '../report/__fixtures__/sample-run.ts';
import { summarize } from '../report/summarize.ts';
import { annotations } from './annotations.ts';
import { markerOf, type Part, renderComment } from './comment.ts';
import { inertCode, inertText } from './inert-text.ts';
import { measuredOf } from './measured.ts';

function partOf({ manifest, rows }: ReturnType<typeof sampleRun>, what: string[]): Part {
  const summary = summarize(manifest, rows);
  const job = { run_id: manifest.run_id, kind: 'context' as const, what, pairs: [] };
  const run = { directory: '', manifest, rows: new Map(), ordered: rows, summary };
  return { job, summary, measured: measuredOf(run, job) };
}

const links = {
  job: 'https://github.example/acme/tea/actions/runs/1',
  files: 'https://github.example/artifact',
};

test('a comment has verdict, interval, smallest detectable difference, cost, flips and links', async () => {
  const text = renderComment([partOf(sampleRun(), ['AGENTS.md'])], null, links);
  await expect(text).toMatchFileSnapshot('__fixtures__/comment.md');
});

test('hostile names and texts stay text in a comment', async () => {
  const hostile = [
    '@everyone',
    '[click](http://evil.example)',
    '</details><img src=x>',
    '/close',
    'fixes #12 GH-3',
  ];
  const text = renderComment(
    [partOf(hostileRun(), hostile)],
    'Said: @octocat closes #1 https://evil.example',
    links,
  );
  await expect(text).toMatchFileSnapshot('__fixtures__/hostile.comment.md');
  expectInert(text);
});

/** What a Markdown renderer makes of a comment has no element, address or reference that we did not write. */
function expectInert(text: string): void {
  const html = marked.parse(text, { async: false });
  const elements = new Set([...html.matchAll(/<([a-z][a-z0-9]*)/gi)].map(([, name]) => name));
  for (const name of elements) {
    expect('h3 p code strong table thead tbody tr th td details summary ul li a em'.split(' ')).toContain(
      name,
    );
  }
  const addresses = [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, address = '']) => address);
  expect(addresses.filter((address) => !Object.values(links).includes(address))).toEqual([]);
  // A line that begins with a slash is a command to GitLab; a sign right before a word is a reference outside of code.
  expect(text).not.toMatch(/^\//m);
  const outside = html
    .replaceAll(/<code>.*?<\/code>/gs, '')
    .replaceAll(/<a .*?<\/a>/gs, '')
    .replaceAll(/&#\d+;/g, '');
  expect(outside.replaceAll('&#39;', '')).not.toMatch(/[@#!~]\w|\$[a-z]|https?:\/\/|www\./i);
}

test('any text is inert in a comment, as code and in a sentence', () => {
  const piece = fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.constantFrom(
      '@all',
      '#1',
      '!2',
      '~bug',
      '`',
      '|',
      '<!--',
      '-->',
      '<b>',
      '](x)',
      '![a](b)',
      'https://e.example',
      'www.e.example',
      '/close',
      '\n',
      '$x$',
      '&lt;',
      '**',
      '::error::',
      'GH-4',
      '*',
      '_',
      '\\',
    ),
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('')),
      (text) => {
        expectInert(
          `| a | b |\n| :-- | :-- |\n| ${inertCode(text)} | x |\n\n${inertText(text)}\n\n- ${inertText(text)}`,
        );
      },
    ),
    { numRuns: 300, examples: [['0.'], ['12) x'], ['- x'], ['---']] },
  );
});

test('a comment is never longer than GitHub takes', () => {
  const part = partOf(sampleRun(), ['AGENTS.md']);
  const [first] = part.measured;
  const flips = Array.from({ length: 20 }, (_, i) => ({
    ...(first?.flips[0] ?? expect.fail()),
    task: `${i}@`.repeat(60),
  }));
  const many = {
    ...part,
    measured: Array.from({ length: 200 }, () => ({ ...(first ?? expect.fail()), flips })),
  };
  expect(renderComment([many], null, links).length).toBeLessThan(65_536);
});

test('annotations are one line each, and no text becomes a command', () => {
  const lines = annotations([partOf(hostileRun(), ['a,b::error file=x\n::set-env name=PATH::x'])]);
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(line).toMatch(/^::(error|warning|notice) [^\n\r]*$/);
  expect(lines[0]).toContain('file=a%2Cb%3A%3Aerror file=x %3A%3Aset-env');
});

test('the marker of a comment is one hidden line, whatever the config is called', () => {
  expect(markerOf('evals/whetstone.yaml')).toBe('<!-- whetstone evals/whetstone.yaml -->');
  expect(markerOf('a-->\n<b>')).toBe('<!-- whetstone a--___b_ -->');
});
