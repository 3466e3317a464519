import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { drivenAgents } from '../native/native-agents.ts';
import { installAgent } from './install-agent.ts';
import { locateProgram } from './installed-agents.ts';

const agent = drivenAgents['codex-sdk'];
const MODULE = '@openai/codex-sdk/dist/index.js';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'located-')));
});
afterEach(() => rm(folder, { recursive: true }));

async function put(...parts: string[]): Promise<string> {
  const file = join(folder, ...parts, 'node_modules', MODULE);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, '');
  return file;
}

const locate = (version?: string) =>
  locateProgram(agent, version, { XDG_CACHE_HOME: join(folder, 'cache'), PATH: '/usr/bin' });

test('the module of an SDK is that of the project, else the newest installed one', async () => {
  const project = join(folder, 'project/sub');
  await mkdir(project, { recursive: true });
  vi.spyOn(process, 'cwd').mockReturnValue(project);
  await expect(locate()).rejects.toMatchObject({
    code: 'agent-not-installed',
    hint: 'Install it: whetstone agents install codex-sdk, or npm install @openai/codex-sdk',
  });
  const old = await put('cache/whetstone/agents/codex-sdk/0.99.0');
  const newest = await put('cache/whetstone/agents/codex-sdk/0.163.0');
  expect(await locate()).toBe(newest);
  const own = await put('project');
  expect(await locate()).toBe(own);
  expect(await locate('0.99.0')).toBe(old);
});

test('a failed installation names the error of npm, without its news and the place of its log', async () => {
  const npm = join(folder, 'npm');
  const printed = [
    'npm error code ETARGET',
    'npm error notarget No matching version found for @openai/codex@9.9.9.',
    'npm notice New major version of npm available! 11.0.0 -> 12.0.0',
    'npm notice To update run: npm install -g npm@12.0.0',
    'npm error A complete log of this run can be found in: /home/me/.npm/_logs/debug.log',
  ];
  await writeFile(npm, `#!/bin/sh\ncat >&2 <<'END'\n${printed.join('\n')}\nEND\nexit 1\n`, { mode: 0o755 });
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
  vi.stubEnv('XDG_CACHE_HOME', join(folder, 'cache'));
  await expect(installAgent(drivenAgents['codex-cli'], { version: '9.9.9' })).rejects.toMatchObject({
    code: 'agent-install-failed',
    message: `npm could not install @openai/codex@9.9.9: ${printed.slice(0, 2).join('\n')}`,
  });
});
