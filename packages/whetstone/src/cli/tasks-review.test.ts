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
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let shown = '';
  for (const stream of [stdout, stderr]) stream.setEncoding('utf8').on('data', (text) => (shown += text));
  const ended = tasksReviewCommand(folder, { all: true }, { stdin, stdout, stderr } as unknown as Streams);
  for (const [index, answer] of [...answers].entries()) {
    await eventually('the question', () => shown.split('Keep, edit, drop').length > index + 1);
    stdin.write(`${answer}\n`);
  }
  await ended;
  await eventually('the counts', () => shown.includes('left for later'));
  return { shown, folder };
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
