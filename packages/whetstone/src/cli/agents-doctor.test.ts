import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTreeState, treeChanges } from '@whetstone/sandbox';
import { expect, test } from 'vitest';
import { makeProject } from './__fixtures__/project.ts';

test('agents doctor looks at the machine and the agents, and shows no key', async () => {
  using project = makeProject();
  const env = { OPENAI_API_KEY: 'sk-secret-0123456789', HTTPS_PROXY: 'http://user:pass@proxy.test:1' };
  const { stdout, stderr, exitCode } = await project.whetstone(['agents', 'doctor', '--json'], env);
  const checks: { topic: string; status: string }[] = JSON.parse(stdout);
  expect(checks.map(({ topic }) => topic)).toEqual(
    expect.arrayContaining(['Node', 'Git', 'sandbox', 'loopback', 'proxy', 'codex-cli', 'claude-code']),
  );
  expect(exitCode).toBe(checks.some(({ status }) => status === 'problem') ? 1 : 0);
  expect(stdout + stderr).not.toMatch(/sk-secret|user:pass/);
});

test('agents doctor starts no agent and leaves every file as it was', async () => {
  using project = makeProject();
  const { root, temporary } = project;
  const started = join(root, 'started');
  for (const name of ['codex', 'claude', 'gemini', 'qwen', 'opencode', 'pi', 'copilot'])
    project.write({ [`bin/${name}`]: { exec: `#!/bin/sh\ntouch ${started}\n` } });
  project.write({ 'home/.codex/auth.json': '{}' });
  const env = { PATH: `${join(root, 'bin')}:${process.env.PATH}`, HOME: join(root, 'home') };
  const before = await readTreeState(root);
  const { stdout } = await project.whetstone(['agents', 'doctor', '--json'], env);
  expect(stdout).toContain(join(root, 'bin/codex'));
  expect(treeChanges(before, await readTreeState(root))).toEqual([]);
  expect(existsSync(started)).toBe(false);
  expect(readdirSync(temporary)).toEqual([]);
});

test('a problem is said with what to do about it, and the exit code is 1', async () => {
  using project = makeProject();
  const { temporary } = project;
  writeFileSync(join(temporary, 'CLAUDE.md'), 'Read me.');
  const { stdout, exitCode } = await project.whetstone(['agents', 'doctor']);
  expect(exitCode).toBe(1);
  expect(stdout).toContain(`agents would read ${join(temporary, 'CLAUDE.md')}`);
  expect(stdout).toContain('→ move it away, or set TMPDIR');
});
