import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { makeProject } from './__fixtures__/project.ts';
import { listCommand } from './agents-list.ts';
import { printError } from './print-error.ts';
import type { Streams } from './streams.ts';

test('every command takes --json', async () => {
  using project = makeProject();
  const without: string[] = [];
  const visit = async (words: readonly string[]): Promise<void> => {
    const { stdout } = await project.whetstone([...words, '--help']);
    const [, commands = ''] = /\nCommands:\n((?: {2}.*\n)*)/.exec(stdout) ?? [];
    const below = [...commands.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name = '']) => name);
    for (const name of below) if (name !== 'help') await visit([...words, name]);
    // Commands that only lead to others do nothing themselves; `gateway` does both.
    const acts = below.length === 0 || words[0] === 'gateway';
    if (acts && !/^ {2}--json /m.test(stdout)) without.push(words.join(' '));
  };
  await visit([]);
  expect(without).toEqual([]);
});

test('what a command prints with --json is JSON', async () => {
  using project = makeProject();
  expect(await project.whetstone(['run'])).toMatchObject({ exitCode: 0 });
  const json = async (...args: string[]) => JSON.parse((await project.whetstone([...args, '--json'])).stdout);
  expect(await json('report', 'latest')).toMatchObject({ summary: { cases: { passed: 2 } } });
  expect(await json('gateway', 'env', '--gateway', 'http://127.0.0.1:1/lanes/a', '--key', 'k')).toMatchObject(
    {
      OPENAI_API_KEY: 'k',
    },
  );
  expect(await json('gateway', 'env', 'nonsense')).toMatchObject({ error: { exit_code: 2 } });
  expect(await json('show')).toMatchObject({
    error: { code: 'command-line-invalid', message: "missing required argument 'run'", exit_code: 2 },
  });
  project.write({ 'stream.jsonl': 'not JSON\n' });
  const parsed = await project.whetstone(['agents', 'parse', 'codex-cli', 'stream.jsonl', '--json']);
  expect(JSON.parse(parsed.stderr)).toMatchObject({ items: 1, malformed: 1 });
});

test('an error that nobody expected is JSON too', async () => {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const streams = { stdout, stderr } as unknown as Streams;
  expect(await printError(new TypeError('x is not a function'), streams, true)).toBe(3);
  stdout.end();
  stderr.end();
  expect(JSON.parse(await text(stdout))).toMatchObject({
    error: { code: 'harness-defect', message: 'x is not a function', exit_code: 3 },
  });
  expect(await text(stderr)).toContain('please report this:\nTypeError: x is not a function\n    at ');
});

test('show suggests the case that a mistyped id stands for', async () => {
  using project = makeProject();
  expect(await project.whetstone(['run'])).toMatchObject({ exitCode: 0 });
  const { stderr, exitCode } = await project.whetstone(['show', 'latest', 'two__baselne__writer__trial-1']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('Did you mean two__baseline__writer__trial-1?');
});

test.each([40, 60, 200])('agents list fits %i columns', async (columns) => {
  const stdout = Object.assign(new PassThrough(), { columns });
  expect(await listCommand({}, { stdout: stdout as unknown as Streams['stdout'] })).toBe(0);
  stdout.end();
  const lines = (await text(stdout)).split('\n');
  expect(lines.filter((line) => line.length > columns)).toEqual([]);
  expect(lines.join('\n')).toContain('codex-cli');
  expect(lines.join('\n')).toContain('openai-responses');
});

test.each([
  ['help', 'rnu'],
  ['runs', 'help', 'rnu'],
])('names a word after help that is not a command: %j', async (...words) => {
  using project = makeProject();
  const { stdout, stderr, exitCode } = await project.whetstone([...words, '--json']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("error: unknown command 'rnu'\n");
  expect(JSON.parse(stdout)).toMatchObject({ error: { message: "unknown command 'rnu'" } });
});

test.each([
  [['rnu', '--help'], "error: unknown command 'rnu'\n(Did you mean run?)"],
  [['tasks', 'mnie', '-h'], "error: unknown command 'mnie'\n(Did you mean mine?)"],
])('%j says that there is no such command', async (args, said) => {
  using project = makeProject();
  const { exitCode, stdout, stderr } = await project.whetstone(args);
  expect({ exitCode, stdout, stderr }).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringContaining(said),
  });
});

test.each([[['audit', '--help']], [['tasks', 'mine', '--help']], [['--help']]])(
  '%j prints help',
  async (args) => {
    using project = makeProject();
    const { exitCode, stdout } = await project.whetstone(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(/^Usage: whetstone/) });
  },
);
