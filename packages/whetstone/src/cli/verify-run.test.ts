import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runLayout } from '../record/layout.ts';
import { takeLock } from '../record/lock-file.ts';
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

test('a key that cannot sign leaves a run as it was, with its signature', async () => {
  using project = makeProject({ tasks: [{ id: 'one', prompt: 'Do it.' }] });
  await project.whetstone(['run']);
  const signWith = (key: string) => project.whetstone(['sign', 'latest', '--key', key]);
  const refused = { exitCode: 2, stderr: expect.stringContaining('ssh-keygen could not sign') };
  expect(await signWith('missing')).toMatchObject(refused);
  expect(await project.whetstone(['verify', 'latest'])).toMatchObject({ exitCode: 0 });

  const key = join(project.root, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  expect(await signWith(key)).toMatchObject({ exitCode: 0 });
  expect(await signWith('missing')).toMatchObject(refused);
  expect(await project.whetstone(['verify', 'latest'])).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('Good "whetstone" signature'),
  });
});

test('a journal that lost its last rows, or that is gone, does not fit what the cases say', async () => {
  using project = makeProject({ tasks: ['one', 'two'].map((id) => ({ id, prompt: 'Do it.' })) });
  await project.whetstone(['run']);
  const key = join(project.root, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  expect(await project.whetstone(['sign', 'latest', '--key', key])).toMatchObject({ exitCode: 0 });
  const { directory, rows } = project.latest();
  const without = rows.map(({ case_id }) => `cases/${case_id}/result.json has no row in journal.jsonl.`);
  const problemsOf = ({ stdout }: { stdout: string }): string[] => JSON.parse(stdout).problems;

  const journal = join(directory, 'journal.jsonl');
  const lines = readFileSync(journal, 'utf8').split('\n');
  const first = lines.findIndex((line) => line.includes('case.finished'));
  writeFileSync(journal, `${lines.slice(0, first).join('\n')}\n`);
  const cut = await project.whetstone(['verify', 'latest', '--json']);
  expect(cut.exitCode).toBe(1);
  expect(problemsOf(cut)).toEqual([...without, 'attestation.json does not fit the run: files, results.']);
  const warned = async () => (await project.whetstone(['report', 'latest'])).stderr;
  expect(await warned()).toContain(without[0]);
  // A case of a run that works ends after its journal was read.
  const lock = await takeLock(runLayout(directory).lock);
  expect(await warned()).not.toContain(without[0]);
  lock?.release();

  rmSync(journal);
  const gone = await project.whetstone(['verify', 'latest', '--json']);
  expect(gone.exitCode).toBe(1);
  expect(problemsOf(gone)).toEqual(['journal.jsonl is missing, or no line of it can be read.', ...without]);
  const shown = await project.whetstone(['verify', 'latest']);
  expect(shown.stdout).toContain('0 rows; the journal does not hold together');
  expect(await project.whetstone(['sign', 'latest', '--key', key])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('The run does not fit together: journal.jsonl is missing'),
  });
});
