import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';

const RECORDED = join(import.meta.dirname, '../../packages/agents/src/native');
const CODEX = join(RECORDED, 'codex-cli/__fixtures__/codex-0.169.0');
const CLAUDE = join(RECORDED, 'claude-code/__fixtures__/claude-code-2.1.330');

const { PATH, NODE_COMPILE_CACHE } = process.env;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agents-example-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function run(example: string, args: readonly string[], env: Record<string, string> = {}) {
  const program = join(import.meta.dirname, example);
  const options = { cwd: folder, env: { PATH, NODE_COMPILE_CACHE, HOME: folder, ...env } };
  return await promisify(execFile)(process.execPath, [program, ...args], options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

/** A program `codex` that writes its prompt into the workspace and prints what Codex once printed. */
function installCodex(recording: string, exitCode = 0): Record<string, string> {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const stream = join(CODEX, `${recording}.stream.jsonl`);
  writeFileSync(join(bin, 'codex'), `#!/bin/sh\ncat > prompt.txt\ncat '${stream}'\nexit ${exitCode}\n`);
  chmodSync(join(bin, 'codex'), 0o755);
  return { PATH: `${bin}${delimiter}${process.env.PATH}`, OPENAI_API_KEY: 'test-key' };
}

test('drive.ts prints what Codex does in the folder', async () => {
  const env = installCodex('main');
  mkdirSync(join(folder, 'project'));
  const { code, stdout } = await run('drive.ts', ['codex', 'project', 'Greet me.'], env);
  expect(readFileSync(join(folder, 'project/prompt.txt'), 'utf8')).toBe('Greet me.');
  expect(stdout).toContain('I write the file.\n');
  expect(stdout).toContain('· command_execution {"command":"sh greet.sh"}\n');
  expect(stdout).toContain('  added /workspace/greet.sh\n');
  expect(stdout).toMatch(/All done\.\ncompleted, 99 output tokens\n$/);
  expect(code).toBe(0);
});

test('drive.ts says why a turn failed, and what is missing', async () => {
  const env = installCodex('unauthorized', 1);
  const failed = await run('drive.ts', ['codex-cli', '.', 'Greet me.'], env);
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('401') });
  expect(failed.stdout).toContain('failed, unknown output tokens');
  const keyless = await run('drive.ts', ['codex'], { PATH: env.PATH ?? '' });
  expect(keyless.stderr).toContain('OPENAI_API_KEY is not set');
  expect((await run('drive.ts', ['codx'])).stderr).toContain('did you mean codex');
});

test('transcripts.ts prints a line per session', async () => {
  const sessions = join(folder, '.codex/sessions/2026/11/22');
  mkdirSync(sessions, { recursive: true });
  cpSync(join(CODEX, 'main.transcript.jsonl'), join(sessions, 'rollout-1.jsonl'));
  cpSync(join(CODEX, 'unauthorized.transcript.jsonl'), join(sessions, 'rollout-2.jsonl'));
  writeFileSync(join(sessions, 'other.json'), '{}');
  const { code, stdout, stderr } = await run('transcripts.ts', []);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '1 files are not transcripts of a known agent.\n' });
  expect(stdout.trimEnd().split('\n')).toEqual([
    'agent\tturns\ttool calls\ttokens\tended\tfile',
    `codex-cli\t2\t12\t105025\tcompleted\t${sessions}/rollout-1.jsonl`,
    `codex-cli\t1\t0\tunknown\tfailed\t${sessions}/rollout-2.jsonl`,
  ]);
});

test('transcripts.ts reads the folder that it is given', async () => {
  cpSync(join(CLAUDE, 'task.transcript.jsonl'), join(folder, 'kept.jsonl'));
  const { stdout } = await run('transcripts.ts', [folder]);
  expect(stdout).toContain(`claude-code\t2\t16\t484903\tcompleted\t${folder}/kept.jsonl\n`);
});

test.each(['drive.ts', 'transcripts.ts'])('%s has about twenty lines', (example) => {
  const source = readFileSync(join(import.meta.dirname, example), 'utf8');
  const lines = source.split('\n').filter((line) => line !== '' && !line.startsWith('//'));
  expect(lines.length).toBeLessThanOrEqual(20);
});
