import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProject } from './__fixtures__/project.ts';

test('a signed run is verified with ssh-keygen, and a change of anything that was signed is named', async () => {
  using project = makeProject({ tasks: [{ id: 'one', prompt: 'Do it.' }] });
  await project.whetstone(['run']);
  const key = join(project.root, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  const verify = (...more: string[]) => project.whetstone(['verify', 'latest', ...more]);
  expect(await verify()).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('whoever can write to the folder could have rewritten all of it'),
  });
  expect(await project.whetstone(['sign', 'latest', '--key', key])).toMatchObject({ exitCode: 0 });
  const good = await verify();
  expect(good.stdout).toContain('Good "whetstone" signature with ED25519 key SHA256:');
  expect(good.exitCode).toBe(0);

  const signers = join(project.root, 'signers');
  writeFileSync(signers, `ada@example.org ${readFileSync(`${key}.pub`, 'utf8')}`);
  const trusted = ['--allowed-signers', signers, '--signer'];
  expect(await verify(...trusted, 'ada@example.org')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('Good "whetstone" signature for ada@example.org'),
  });
  expect(await verify(...trusted, 'eve@example.org')).toMatchObject({ exitCode: 1 });

  const journal = join(project.latest().directory, 'journal.jsonl');
  const lines = readFileSync(journal, 'utf8').trimEnd().split('\n');
  writeFileSync(journal, `${lines.slice(0, -1).join('\n')}\n`);
  const cut = await verify('--json');
  expect(cut.exitCode).toBe(1);
  expect(JSON.parse(cut.stdout)).toMatchObject({
    chained: true,
    signature: { isGood: true },
    problems: ['attestation.json does not fit the run: files.'],
  });
});
