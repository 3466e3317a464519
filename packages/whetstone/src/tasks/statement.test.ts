import { expect, test } from 'vitest';
import type { Draft } from './draft.ts';
import { cleanStatement, leaksOf } from './leaks.ts';
import type { Issue } from './read-issues.ts';
import { statementSources, stateTask } from './statement.ts';

const draft: Draft = {
  ...{ id: 't', method: 'replay', subject: '', commit: 'c', date: '2026-01-01T00:00:00Z' },
  sources: [{ path: 'src/parse.ts', lines: 2 }],
  ...{ start: [], earlierTests: [] },
  base: 'p',
  tests: { runner: 'vitest', options: [], files: ['test/parse.test.ts'] },
  testFiles: [],
  goldPatch:
    '+++ b/src/parse.ts\n+  if (text === "") return emptyDocument();\n+  const nextToken = lexer.advance();\n',
};
const commits = new Set(['1a2b3c4d5']);
const names = { needed: [], own: ['emptyDocument'] };
const LONG =
  'Parsing a text that is empty throws an error, and people expect an empty document to come back from it.';
const issue = (number: number, body: string, isPullRequest = false): Issue => ({
  ...{ number, title: 'Empty text', body, isPullRequest },
});
const known = new Map([
  [7, issue(7, LONG)],
  [8, issue(8, 'Fixes #7', true)],
]);
const issues = async (number: number) => known.get(number);

test('numbers, commit ids, trailers and parts of templates are taken out', () => {
  const text = `fix(parse): empty text (#12)\r\n\r\nFixes #9. See https://github.com/a/b/issues/9 and 1a2b3c4d5.\n<!-- template -->\n- [x] I have read it\nDefaced facade stays.\nSigned-off-by: Ada <a@b.c>`;
  expect(cleanStatement(text, draft, names, commits).text).toBe(
    'empty text\n\n. See  and .\n\nDefaced facade stays.',
  );
});

test('what the answer introduces and changes is for a person to look at; its lines are a leak', () => {
  const named = cleanStatement('Return emptyDocument() in src/parse.ts.', draft, names, commits);
  expect(named).toMatchObject({
    review: [
      'names emptyDocument, which only the answer introduces',
      'names src/parse.ts, which the answer changes',
    ],
  });
  expect(named).not.toHaveProperty('leak');
  const copied = 'if (text === "") return emptyDocument();\nconst nextToken = lexer.advance();';
  expect(cleanStatement(copied, draft, names, commits).leak).toBe('it has 2 lines of the answer');
  expect(cleanStatement('diff --git a/x b/x', draft, names, commits).leak).toBe('it has a patch');
});

test('a line of the answer with letters beyond ASCII is found', () => {
  const line = 'throw new Error("Größe fehlt")';
  const goldPatch = Buffer.from(`+++ b/a.ts\n+  ${line}\n`).toString('latin1');
  expect(leaksOf(`Say:\n${line}`, { goldPatch, paths: ['a.ts', 'b.ts'] })).toEqual({
    ...{ copied: [line], paths: [] },
  });
});

test('an issue comes before the pull request that names it, and both before the message', async () => {
  const sources = await statementSources({ message: 'Fix parsing (#8)' }, issues);
  expect(sources.map(({ grade, source }) => [grade, source])).toEqual([
    ['issue', '#7'],
    ['pull request', '#8'],
    ['commit', undefined],
  ]);
  expect(stateTask(draft, ['a'], { sources, names, commits })).toMatchObject({
    grade: 'issue',
    source: '#7',
  });
});

test('without a text that says enough, the failing tests are the statement', async () => {
  const sources = await statementSources({ message: 'Fix parsing' }, issues);
  const { grade, prompt, passedOver } = stateTask(draft, ['test/parse.test.ts > empty'], {
    sources,
    names,
    commits,
  });
  expect(grade).toBe('tests');
  expect(prompt).toContain('- test/parse.test.ts > empty');
  expect(passedOver).toEqual(['the commit message: only 2 words']);
});

test('a text that does not name what the tests call is not enough', async () => {
  const sources = await statementSources({ message: 'Empty (#7)' }, issues);
  const needed = { needed: ['parseEmpty'], own: [] };
  expect(stateTask(draft, ['a'], { sources, names: needed, commits })).toMatchObject({
    grade: 'tests',
    passedOver: ['#7: does not name parseEmpty, which the tests use', 'the commit message: only 1 word'],
  });
});

test('control characters in the names of tests are shown as escapes', () => {
  const { prompt } = stateTask(draft, ['t.ts > decodes "\0" and \x1b'], { sources: [], names, commits });
  expect(prompt).toContain('- t.ts > decodes "\\u0000" and \\u001b\n');
  expect(cleanStatement('An empty\0 text.', draft, names, commits).text).toBe('An empty text.');
});

test('tasks without code of different places have different statements, though the same tests fail', () => {
  const stated = (missing: string) =>
    stateTask({ ...draft, missing }, ['a'], { sources: [], names, commits }).prompt;
  const prompt = stated('The code of next in src/parse.ts, line 2,');
  expect(prompt).toMatch(
    /^The code of next in src\/parse.ts, line 2, is not written yet\.\n\nThese tests fail:/,
  );
  expect(prompt).not.toBe(stated('The code of next in src/parse.ts, line 9,'));
});
