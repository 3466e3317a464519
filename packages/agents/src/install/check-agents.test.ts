import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { drivenAgents } from '../native/native-agents.ts';
import { type Check, checkAgents } from './check-agents.ts';
import { testedVersion } from './install-agent.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'check-agents-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A package on the PATH as npm installs it: a link to a script of the package. */
async function onPath(name: string, version: string, program: string): Promise<string> {
  const home = join(folder, `${program}-${version}`);
  const own = join(home, 'node_modules', name);
  await mkdir(join(own, 'bin'), { recursive: true });
  await writeFile(join(own, 'package.json'), JSON.stringify({ name, version }));
  await writeFile(join(own, 'bin', 'start.js'), 'process.exit(1)', { mode: 0o755 });
  await mkdir(join(home, 'bin'));
  await symlink(join(own, 'bin', 'start.js'), join(home, 'bin', program));
  return join(home, 'bin');
}

async function check(topic: string, environment: NodeJS.ProcessEnv): Promise<Check | undefined> {
  const home = join(folder, 'home');
  const own = { PATH: '/nowhere', HOME: home, XDG_CACHE_HOME: join(folder, 'cache'), TMPDIR: '/other' };
  const checks = await checkAgents({ ...own, ...environment });
  return checks.find((one) => one.topic === topic);
}

const tested = testedVersion(drivenAgents['codex-cli']);

test('an agent that is not here comes with the command that installs it', async () => {
  expect(await check('codex-cli', {})).toEqual({
    ...{ topic: 'codex-cli', status: 'note', found: 'not installed' },
    fix: 'whetstone agents install codex-cli',
  });
});

test('the version of a program is read, and no program is started', async () => {
  const PATH = await onPath('@openai/codex', tested, 'codex');
  const found = await check('codex-cli', { PATH, OPENAI_API_KEY: 'sk-secret-0123456789' });
  expect(found).toEqual({
    ...{ topic: 'codex-cli', status: 'ok' },
    found: `${join(PATH, 'codex')} (${tested}), OPENAI_API_KEY is set`,
  });
});

test('an untested version and a missing key are notes with what to do', async () => {
  const PATH = await onPath('@openai/codex', '0.1.0', 'codex');
  expect(await check('codex-cli', { PATH, OPENAI_API_KEY: 'sk-secret-0123456789' })).toMatchObject({
    status: 'note',
    fix: expect.stringContaining(`whetstone agents install codex-cli@${tested}`),
  });
  expect(await check('codex-cli', { PATH })).toMatchObject({
    status: 'note',
    found: expect.stringContaining('no key and no login'),
    fix: expect.stringContaining('OPENAI_API_KEY'),
  });
});

test('an SDK without the program that it starts is not complete, and an adapter of a protocol is looked for', async () => {
  const { entry } = drivenAgents['opencode-sdk'].release;
  if (!('module' in entry)) throw new Error('The SDK has no module.');
  const module = join(folder, 'with-sdk/whetstone/agents/opencode-sdk/1.2.3/node_modules', entry.module);
  await mkdir(join(module, '..'), { recursive: true });
  await writeFile(module, '');
  const XDG_CACHE_HOME = join(folder, 'with-sdk');
  expect(await check('opencode-sdk', { XDG_CACHE_HOME, OPENAI_API_KEY: 'k' })).toMatchObject({
    status: 'note',
    found: expect.stringContaining('opencode is not here'),
    fix: expect.stringContaining('whetstone agents install opencode-sdk'),
  });
  expect(await check('codex-acp', {})).toMatchObject({
    found: 'not installed',
    fix: 'whetstone agents install codex-acp',
  });
});

test('CODEX_HOME below the temporary folder is a problem', async () => {
  expect(await check('CODEX_HOME', { CODEX_HOME: '/other/codex' })).toMatchObject({ status: 'problem' });
  expect(await check('CODEX_HOME', {})).toMatchObject({ status: 'ok' });
});

test('nothing is written', async () => {
  await mkdir(join(folder, 'home'), { recursive: true });
  await check('codex-cli', {});
  expect(await readdir(join(folder, 'home'))).toEqual([]);
  expect(await readdir(folder)).not.toContain('cache');
});
