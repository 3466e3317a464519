import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

test('a problem is said with what to do about it, and the exit code is 1', async () => {
  using project = makeProject();
  const { temporary } = project;
  writeFileSync(join(temporary, 'CLAUDE.md'), 'Read me.');
  const { stdout, exitCode } = await project.whetstone(['agents', 'doctor']);
  expect(exitCode).toBe(1);
  expect(stdout).toContain(`agents would read ${join(temporary, 'CLAUDE.md')}`);
  expect(stdout).toContain('→ move it away, or set TMPDIR');
});
