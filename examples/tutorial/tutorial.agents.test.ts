import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createGateway } from '@whetstone/gateway';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cacheFolder, programs } from '../real-agents/install.ts';
import script from './script.ts';

const ROOT = join(import.meta.dirname, '../..');
const page = readFileSync(join(ROOT, 'docs/tutorial.md'), 'utf8');
const blocks = [...page.matchAll(/^```sh ?(\w*)\n(.*?)^```$/gms)].map(([, tag = '', code = '']) => ({
  tag,
  code,
}));
const signIn = blocks.findIndex(({ code }) => code.includes('OPENAI_API_KEY='));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tutorial-'));
  for (const name of ['home', 'bin']) mkdirSync(join(folder, name));
  symlinkSync(join(ROOT, 'packages/whetstone/bin/whetstone.js'), join(folder, 'bin/whetstone'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A user's shell: the command, the agents, and a home without anything. */
const environment = () => ({
  PATH: [join(folder, 'bin'), join(ROOT, 'node_modules/.bin'), programs, process.env.PATH].join(':'),
  HOME: join(folder, 'home'),
  XDG_CACHE_HOME: cacheFolder,
  LANG: 'C.UTF-8',
});

/** Runs lines of the page in `cwd`. A run whose cases did not all pass exits with 1. */
async function sh(code: string, cwd: string): Promise<string> {
  const run = promisify(execFile)('bash', ['--norc', '-eo', 'pipefail', '-c', code], {
    cwd,
    env: environment(),
  });
  return run.then(
    ({ stdout }) => stdout,
    ({ code: exitCode, stdout, stderr }) => {
      expect(exitCode, `${code}\n${stdout}${stderr}`).toBe(1);
      expect(code).toMatch(/^whetstone run --trials/);
      return stdout;
    },
  );
}

test('the commands of the tutorial work as they stand, and its file helps the scripted model', async () => {
  await using gateway = await createGateway();
  await using lane = await gateway.open({ owner: 'provider', mode: { kind: 'script', script } });
  const repository = join(folder, 'greetings');
  expect(blocks.length).toBeGreaterThan(8);
  for (const [index, { tag, code }] of blocks.entries()) {
    if (tag === 'login' || tag === 'page') continue;
    // The provider is the only thing that is replaced.
    const here = code
      .replace('your-key', lane.key)
      .replace('mode: forward', `upstreams: { openai: { url: "${lane.baseUrl}/v1" } }\n  mode: forward`);
    const stdout = await sh(
      here,
      index <= blocks.findIndex(({ code: first }) => first.includes('mkdir greetings')) ? folder : repository,
    );
    if (code.includes('--check-agents')) expect(stdout).toContain('16 cases: 1 agent × 4 tasks × 2 variants');
    if (tag === 'run') {
      expect(stdout).toContain('16 cases: 8 passed, 8 failed, 0 errors, 0 not finished');
      expect(stdout).toMatch(/better: \+100 pp/);
    }
  }
  const rows = readFileSync(join(repository, 'cases.csv'), 'utf8').trim().split('\r\n');
  expect(rows).toHaveLength(17);
});

test('the page of the tutorial opens', async () => {
  const [{ code = '' } = {}] = blocks.filter(({ tag }) => tag === 'page');
  const shown = await sh(
    `timeout --signal=INT 5 ${code}`.replace(/\n$/, ' || true\n'),
    join(folder, 'greetings'),
  );
  expect(shown).toMatch(/http:\/\/127\.0\.0\.1:\d+/);
});

test('signing in with a plan is a login and one line of the config', async () => {
  expect(signIn).toBeGreaterThan(0);
  const repository = join(folder, 'greetings');
  const program = join(folder, 'bin/codex');
  const token = `e30.${Buffer.from('{"exp":4102444800}').toString('base64url')}.x`;
  const login = { tokens: { id_token: token, access_token: token, refresh_token: 'r', account_id: 'a' } };
  writeFileSync(
    program,
    `#!/bin/sh\n[ "$1" = login ] || exec "${programs}/codex" "$@"\nmkdir -p ~/.codex && echo '${JSON.stringify(login)}' > ~/.codex/auth.json\n`,
  );
  chmodSync(program, 0o755);
  rmSync(join(repository, '.env'));
  // Without the test's provider, which takes no login.
  await sh(`sed -i '/upstreams:/d' whetstone.yaml`, repository);
  for (const { tag, code } of blocks) if (tag === 'login') await sh(code, repository);
  expect(readFileSync(join(repository, 'whetstone.yaml'), 'utf8')).toContain('auth: login');
  expect(await sh('whetstone validate-config --strict --check-agents', repository)).toContain('Config valid');
});
