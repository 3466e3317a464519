import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { makeTempDir, writeTree } from '../workspace/__fixtures__/test-repo.ts';
import { eventually } from './__fixtures__/project.ts';
import type { Streams } from './streams.ts';
import { tasksReviewCommand } from './tasks-review.ts';

afterEach(() => vi.unstubAllEnvs());

/** Reviews a folder with one task on a terminal. */
async function review(answers: string, files: Record<string, string> = {}) {
  const folder = makeTempDir();
  writeTree(folder, {
    'a/task.yaml': 'id: a\nprompt: Do it.\nvalidation: { commands: [npm test] }\n',
    'a/provenance.json': JSON.stringify({
      commit: 'abc',
      date: '2026',
      fail_to_pass: [],
      pass_to_pass: [],
      excluded: [],
      review: [],
    }),
    ...files,
  });
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stdout = new PassThrough();
  const stderr = Object.assign(new PassThrough(), { isTTY: true });
  let shown = '';
  for (const stream of [stdout, stderr]) stream.setEncoding('utf8').on('data', (text) => (shown += text));
  const ended = tasksReviewCommand(folder, { all: true }, { stdin, stdout, stderr } as unknown as Streams);
  const listed = () => shown.split('one letter of').length - 1;
  for (const [index, answer] of [...answers].entries()) {
    await eventually('the question', () => shown.split('/q] ').length > index + 1 + listed());
    stdin.write(answer === '\x03' ? answer : `${answer}\n`);
  }
  const exitCode = await ended;
  await eventually('the counts', () => shown.includes('left for later'));
  return { shown, folder, exitCode };
}

test('a task that an editor made invalid is not kept until it is valid again', async () => {
  vi.stubEnv('VISUAL', '');
  vi.stubEnv('EDITOR', ': >');
  const { shown } = await review('ekq');
  expect(
    shown.match(/this file is empty\.\nThe task is not valid as it is now\. Edit it again\./g),
  ).toHaveLength(2);
  expect(shown).toContain('0 kept, 0 dropped, 1 left for later');
});

test('a task is kept, or dropped with its folder', async () => {
  expect((await review('k')).shown).toContain('1 kept, 0 dropped, 0 left for later');
  const { shown, folder } = await review('d');
  expect(shown).toContain('0 kept, 1 dropped, 0 left for later');
  expect(existsSync(join(folder, 'a'))).toBe(false);
});

test('the answer is counted as Git counts it: binary files, and lines that look like headers', async () => {
  const patch = [
    'diff --git a/q.sql b/q.sql',
    '--- a/q.sql',
    '+++ b/q.sql',
    '@@ -1,2 +1,2 @@',
    '--- an old comment',
    '+++ a new one',
    ' select 1;',
    'diff --git a/p.png b/p.png',
    'new file mode 100644',
    'index 0000000..1111111',
    'GIT binary patch',
    'literal 0',
    'HcmV?d00001',
    '',
    'literal 0',
    'HcmV?d00001',
    '',
    '',
  ].join('\n');
  const { shown } = await review('q', { 'a/gold.patch': patch });
  expect(shown).toContain('Answer: 2 files, +1 −1\n');
});

test('an answer that is not one of the letters is answered by their list, without the task again', async () => {
  const { shown } = await review('xq');
  expect(shown).toContain('Answer with one letter of [k/e/d/s/l/q] \n');
  expect(shown.match(/── 1 of 1: a/g)).toHaveLength(1);
});

test('Ctrl-C says what was done and ends with 130, as elsewhere', async () => {
  const { shown, exitCode } = await review('\x03');
  expect(shown).toContain('0 kept, 0 dropped, 1 left for later');
  expect(exitCode).toBe(130);
  expect((await review('q')).exitCode).toBe(0);
});

test('a task that is not valid does not keep anyone from the others, and can be dropped', async () => {
  const files = { 'b/task.yaml': '', 'c/task.yaml': 'id: c\nprompt: x\n', 'c/provenance.json': '{' };
  const { shown, folder, exitCode } = await review('kksdq', files);
  expect(shown).toMatch(/── 2 of 3: b\n.*this file is empty/);
  expect(shown).toContain('Answer with one letter of [e/d/l/q]');
  expect(shown).toMatch(/── 3 of 3: c\n.*not JSON/);
  expect(shown).toContain('1 kept, 1 dropped, 1 left for later');
  expect([existsSync(join(folder, 'b')), exitCode]).toEqual([false, 0]);
});

test('without a terminal, all tasks are shown, and one that is not valid makes the exit code 2', async () => {
  const folder = makeTempDir();
  writeTree(folder, { 'a/task.yaml': '', 'b/task.yaml': 'id: b\nprompt: Do it.\n' });
  const seen = await inFolder(folder, {});
  expect(seen).toMatchObject({
    exitCode: 2,
    stdout: expect.stringMatching(/this file is empty[\s\S]*Do it\./),
  });
  const { exitCode, stdout, stderr } = await inFolder(folder, { json: true });
  expect(JSON.parse(stdout)).toMatchObject([{ id: 'b', prompt: 'Do it.' }]);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('this file is empty')]);
});

async function inFolder(folder: string, options: { json?: boolean }) {
  const shown = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof shown) => ({ write: (text: string) => (shown[name] += text) });
  const streams = { stdin: { isTTY: false }, stdout: stream('stdout'), stderr: stream('stderr') };
  const exitCode = await tasksReviewCommand(folder, options, streams as unknown as Streams);
  return { ...shown, exitCode };
}
