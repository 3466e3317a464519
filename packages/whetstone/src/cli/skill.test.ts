import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeProject, type Project } from './__fixtures__/project.ts';

let project: Project;
beforeAll(() => {
  project = makeProject();
});
afterAll(() => project[Symbol.dispose]());
const install = (...args: string[]) =>
  project.whetstone(['skill', 'install', ...args], { HOME: project.root });

test('skill install writes the skill where each agent looks, and keeps what a person has changed', async () => {
  const agents = ['--agent', 'claude-code', '--agent', 'codex-cli', '--agent', 'pi', '--json'];
  const user = await install('--user', ...agents);
  const { written, mcp_server } = JSON.parse(user.stdout);
  expect(written).toEqual([
    '.claude/skills/whetstone/SKILL.md',
    '.codex/skills/whetstone/SKILL.md',
    '.pi/agent/skills/whetstone/SKILL.md',
  ]);
  expect(mcp_server).toEqual({ command: 'whetstone', args: ['mcp'] });
  const file = join(project.root, written[0]);
  expect(readFileSync(file, 'utf8')).toContain('name: whetstone');
  expect(await install('--user', ...agents)).toMatchObject({ exitCode: 0 });
  writeFileSync(file, 'mine');
  const refused = await install('--user', '--agent', 'claude-code');
  expect(refused).toMatchObject({ exitCode: 2 });
  expect(refused.stderr).toContain('file-exists');
  expect(readFileSync(file, 'utf8')).toBe('mine');
  expect(await install('--user', '--agent', 'claude-code', '--force')).toMatchObject({ exitCode: 0 });
});

test('skill install in no repository, or for an agent that is not one, says so', async () => {
  expect((await install('--agent', 'claude-code')).stderr).toContain('repo-not-git');
  expect((await install('--user', '--agent', 'nobody')).stderr).toContain('agent-kind-unknown');
});
