import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { drivenAgents } from '../native/native-agents.ts';
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
