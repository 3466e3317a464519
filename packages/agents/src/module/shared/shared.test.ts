import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamEvent } from '@whetstone/events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { startAttempt } from '../../__fixtures__/attempt.ts';
import { shared } from '../../index.ts';
import { removeO11yContext } from './o11y-context.ts';

const NODE_MODULES = join(import.meta.dirname, '../../../../../node_modules');

describe('captureLatestJsonl', () => {
  test('reads the newest file of all subfolders, by modification time', async () => {
    await using attempt = await startAttempt('');
    await attempt.sandbox.runShell(`mkdir -p ~/logs/a/b "$HOME/logs/it's new"
echo old > ~/logs/z.jsonl; echo other > ~/logs/a/b/newest.txt; echo new > "$HOME/logs/it's new/a b.jsonl"
touch -d '2001-01-01' ~/logs/z.jsonl; touch -d '2002-01-01' "$HOME/logs/it's new/a b.jsonl"
echo secret > ~/secret.jsonl; ln -s ~/secret.jsonl ~/logs/link.jsonl`);
    expect(await shared.captureLatestJsonl(attempt.sandbox, '~/logs')).toBe('new\n');
    expect(await shared.captureLatestJsonl(attempt.sandbox, join(attempt.sandbox.home, 'logs'))).toBe(
      'new\n',
    );
    expect(await shared.captureLatestJsonl(attempt.sandbox, '~/logs/a')).toBe('');
    expect(await shared.captureLatestJsonl(attempt.sandbox, '~/nowhere')).toBe('');
  });

  test('searches thousands of files', async () => {
    await using attempt = await startAttempt('');
    // Together, their paths are longer than a command may be.
    const folder = Array(6).fill('x'.repeat(200)).join('/');
    await attempt.sandbox.runShell(`mkdir -p ${folder}; cd ${folder}; seq 2000 | sed 's/$/.jsonl/' | xargs touch -d 2001-01-01
echo found > 1777.jsonl`);
    expect(await shared.captureLatestJsonl(attempt.sandbox, '.')).toBe('found\n');
  });

  test('reads more than a command result holds, and never more than 64 MiB', async () => {
    await using attempt = await startAttempt('');
    await attempt.sandbox.runShell(`yes '{"line":1}' | head -c 10000000 > a.jsonl`);
    expect((await shared.captureLatestJsonl(attempt.sandbox, '.')).length).toBe(10_000_000);
    await attempt.sandbox.runShell('truncate -s 3G a.jsonl; printf "\\nlast\\n" >> a.jsonl');
    expect(await shared.captureLatestJsonl(attempt.sandbox, '.')).toBe('last\n');
  });
});

test('sessionIdFromClaudeTranscript finds the last session id', () => {
  const id = shared.sessionIdFromClaudeTranscript;
  expect(id('{"sessionId":"a"}\n{"sessionId":"b","x":1}\n{"sessionId":"c"')).toBe('b');
  expect(id('{"type":"result","session_id":"s"}\nnull\n5\n')).toBe('s');
  expect(id('')).toBeUndefined();
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.json(), fc.string())), fc.uuid(), (lines, session) => {
      const plain = lines.filter((line) => !line.includes('ession'));
      const raw = [JSON.stringify({ sessionId: session }), ...plain].join('\n');
      expect(id(raw)).toBe(session);
    }),
  );
});

describe('injectO11yContext', () => {
  const events: StreamEvent[] = [
    { type: 'thinking', text: 'hm' },
    { type: 'message', role: 'assistant', text: 'I look.' },
    { type: 'message', role: 'user', text: 'do' },
    { type: 'message', role: 'assistant', text: 'inner', parentCallId: '9' },
    { type: 'action.called', callId: '1', name: 'Bash', input: { command: 'ls' } },
    { type: 'action.result', callId: '1', status: 'completed', output: { exitCode: 2 } },
    { type: 'action.called', callId: '2', name: 'run_shell_command', input: { command: 'pwd' } },
    { type: 'action.called', callId: '3', name: 'Read', input: { file_path: 'a.ts' } },
    { type: 'action.called', callId: '4', name: 'read_file', input: { path: 'a.ts' } },
    {
      type: 'action.called',
      callId: '5',
      name: 'apply_patch',
      input: { input: '*** Update File: b.ts\n@@\n*** Add File: c.ts\n' },
    },
    { type: 'action.called', callId: '6', name: 'WebFetch', input: { url: 'https://example.test' } },
    { type: 'action.result', callId: '6', status: 'failed' },
    { type: 'action.called', callId: '7', name: 'constructor', input: null },
    { type: 'file.changed', path: 'd.ts', change: 'added' },
    { type: 'action.called', callId: '9', name: 'invoke_agent', input: { prompt: 'Help.' } },
    { type: 'subagent.called', callId: '9', name: 'helper' },
    { type: 'subagent.called', callId: '10', name: 'one that no tool call made' },
    { type: 'error', message: 'oops' },
  ];

  test('writes what an EVAL.ts reads', async () => {
    await using attempt = await startAttempt('');
    await shared.injectO11yContext(attempt.sandbox, events);
    const { o11y } = JSON.parse(await attempt.sandbox.readFile('__niceeval__/results.json'));
    expect(o11y).toEqual({
      totalTurns: 1,
      toolCalls: {
        ...{ file_read: 2, file_write: 0, file_edit: 1, shell: 2, web_fetch: 1, web_search: 0 },
        ...{ glob: 0, grep: 0, list_dir: 0, agent_task: 2, unknown: 1 },
      },
      totalToolCalls: 9,
      webFetches: [{ url: 'https://example.test', success: false }],
      filesRead: ['a.ts'],
      filesModified: ['b.ts', 'c.ts', 'd.ts'],
      shellCommands: [{ command: 'ls', exitCode: 2, success: false }, { command: 'pwd' }],
      errors: ['oops'],
      thinkingBlocks: 1,
    });
  });

  test('removes the file and its folder', async () => {
    await using attempt = await startAttempt('');
    await shared.injectO11yContext(attempt.sandbox, events);
    await removeO11yContext(attempt.sandbox);
    expect(await readdir(attempt.workdir)).toEqual([]);
  });
});

describe('prepareWorkspace and runValidation', () => {
  const EVAL = `import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
test('answer', () => expect(readFileSync('answer.txt', 'utf8')).toBe('42'));
test('o11y', () => {
  const o11y = JSON.parse(readFileSync('__niceeval__/results.json', 'utf-8')).o11y;
  expect(o11y.shellCommands.map((c) => c.command)).not.toContain('rm -rf /');
});
`;

  async function withFixture(use: (folder: string) => Promise<void>): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'workspace-fixture-'));
    try {
      for (const name of ['src', '.git', 'node_modules/x'])
        await mkdir(join(folder, name), { recursive: true });
      const scripts = { good: 'test -f src/[id].test.mjs', bad: 'exit 3' };
      await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', scripts }));
      await writeFile(join(folder, 'EVAL.ts'), EVAL);
      await writeFile(join(folder, 'PROMPT.md'), 'Write the answer.');
      await writeFile(
        join(folder, 'src/[id].test.mjs'),
        "import { test } from 'vitest'; test('x', () => {});",
      );
      await writeFile(join(folder, 'src/run.sh'), 'true', { mode: 0o755 });
      await writeFile(join(folder, '.gitignore'), 'node_modules\n');
      await use(folder);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  test('the validation sees the tests, the agent does not, and the workspace stays as it was', async () => {
    await using attempt = await startAttempt('');
    const { sandbox, workdir } = attempt;
    await withFixture(async (folder) => {
      await shared.prepareWorkspace(sandbox, { path: folder });
    });
    expect((await readdir(workdir)).sort()).toEqual(['.git', '.gitignore', 'package.json', 'src']);
    const state = 'git log --format=%s; git status --porcelain; test -x src/run.sh && ls src';
    expect((await sandbox.runShell(state)).stdout).toBe('Start\nrun.sh\n');

    await symlink(NODE_MODULES, join(workdir, 'node_modules'));
    await sandbox.writeFiles({ 'answer.txt': '41', 'EVAL.ts': "the agent's own" });
    await shared.injectO11yContext(sandbox, []);
    const wrong = await shared.runValidation(sandbox, ['good', 'bad'], 'vitest');
    expect(wrong.passed).toBe(false);
    expect(wrong.checks).toMatchObject([
      { name: 'vitest', passed: false, exitCode: 1, output: expect.stringMatching(/1 failed \| 2 passed/) },
      { name: 'good', passed: true },
      { name: 'bad', passed: false, exitCode: 3 },
    ]);
    expect(await sandbox.readFile('EVAL.ts')).toBe("the agent's own");
    expect((await readdir(workdir)).sort()).toEqual([
      ...['.git', '.gitignore', 'EVAL.ts', 'answer.txt', 'node_modules', 'package.json', 'src'],
    ]);
    expect(await readdir(join(workdir, 'src'))).toEqual(['run.sh']);

    await sandbox.writeFiles({ 'answer.txt': '42' });
    await shared.injectO11yContext(sandbox, []);
    expect(await shared.runValidation(sandbox, [], 'vitest')).toMatchObject({ passed: true });
    expect(await shared.runValidation(sandbox, ['bad'], 'none')).toMatchObject({
      passed: false,
      checks: [{ name: 'bad' }],
    });
  });

  test('a link in a fixture is refused', async () => {
    await using attempt = await startAttempt('');
    await withFixture(async (folder) => {
      await symlink('/etc/passwd', join(folder, 'link'));
      const preparing = shared.prepareWorkspace(attempt.sandbox, folder);
      await expect(preparing).rejects.toMatchObject({ code: 'fixture-invalid', where: join(folder, 'link') });
    });
  });
});
