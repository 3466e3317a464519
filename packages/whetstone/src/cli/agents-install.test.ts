import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { toAgentConfig } from '@whetstone/agents/config';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { installCommand, installMissing } from './agents-install.ts';
import type { Streams } from './streams.ts';

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'agents-install-'));
  vi.stubEnv('XDG_CACHE_HOME', cache);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(cache, { recursive: true, force: true });
});

function install(path: string): void {
  const file = join(cache, 'whetstone/agents', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '');
}

test('a version that a configuration names is the one of the program that it starts', async () => {
  install('gemini-cli/9.9.9/bin/gemini');
  install('codex-acp/9.9.8/bin/codex-acp');
  install('codex-cli/9.9.7/bin/codex');
  const stderr = new PassThrough();
  await installMissing(
    [
      toAgentConfig({ kind: 'acp', agent: 'gemini-cli', version: '9.9.9' }),
      toAgentConfig({ kind: 'acp', agent: 'codex-cli', version: '9.9.8' }),
      toAgentConfig({ kind: 'codex-app-server', version: '9.9.7' }),
    ],
    { stderr: stderr as unknown as Streams['stderr'] },
  );
  // All of them are here, so nothing was installed.
  expect(stderr.read()).toBeNull();
});

test('a mistyped agent comes with the one that was meant, before anything is installed', async () => {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() } as unknown as Streams;
  await expect(installCommand(['codex-cli@9.9.7', 'gemni'], {}, streams)).rejects.toMatchObject({
    code: 'agent-kind-unknown',
    hint: expect.stringContaining('did you mean gemini'),
  });
});

test.each([
  ['acp', 'acp is a protocol', 'codex-acp'],
  ['loop', 'does not start an agent loop by itself', 'codex-cli'],
  ['ai-sdk-harness', 'does not start an agent custom by itself', 'codex-cli'],
  ['gpt', 'There is no kind of agent "gpt"', 'claude-agent-acp'],
])('%s is nothing that could be installed: %s', async (name, message, hint) => {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() } as unknown as Streams;
  await expect(installCommand([name], {}, streams)).rejects.toMatchObject({
    code: 'agent-kind-unknown',
    message: expect.stringContaining(message),
    hint: expect.stringContaining(hint),
  });
});
