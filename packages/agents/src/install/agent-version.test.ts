import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createProcessSandboxProvider } from '@whetstone/sandbox';
import { expect, test } from 'vitest';
import { agentConfig, startAttempt } from '../__fixtures__/attempt.ts';
import { agentVersion } from './agent-version.ts';

test.each([
  ['is the first line, sanitised', 'printf "\\033[1magent 1.2.3\\033[0m\\007\\nmore\\n"', 'agent 1.2.3'],
  ['has at most 200 characters', 'yes x | head -c 5000 | tr -d "\\n"', 'x'.repeat(200)],
  ['is unknown when the program fails', 'echo 1.0; exit 1', null],
  ['is unknown when the program prints nothing', 'true', null],
])('the version %s', async (_, script, version) => {
  await using attempt = await startAttempt('');
  const bin = join(attempt.folder, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'test-agent'), `#!/bin/sh\n[ "$*" = --version ] || exit 9\n${script}\n`);
  await chmod(join(bin, 'test-agent'), 0o755);
  const provider = await createProcessSandboxProvider({
    scratch: join(attempt.folder, 'scratch'),
    parentEnvironment: { PATH: `${bin}:${process.env.PATH}` },
  });
  await using sandbox = await provider.start({ workdir: attempt.workdir, env: {} });
  const command = { kind: 'shell', script: 'MODE=x test-agent run "{prompt}"' } as const;
  expect(await agentVersion(agentConfig({ command }), sandbox)).toBe(version);
});

test('the version is unknown when there is no program to ask', async () => {
  await using attempt = await startAttempt('');
  for (const argv of [['no-such-agent-here'], ['./script.sh'], ['{workspace}/agent']]) {
    expect(await agentVersion(agentConfig({ command: { kind: 'argv', argv } }), attempt.sandbox)).toBeNull();
  }
  expect(
    await agentVersion(agentConfig({ kind: 'loop', loop: { profile: 'openai' } }), attempt.sandbox),
  ).toBeNull();
});
