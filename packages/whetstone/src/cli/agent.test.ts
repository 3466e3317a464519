import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createGateway, type Gateway, scriptFromSteps } from '@whetstone/gateway';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Call, runCommandLine } from './__fixtures__/command-line.ts';
import { BIN } from './__fixtures__/project.ts';

const script = scriptFromSteps('write a file', [
  { text: 'I write it.', calls: [{ tool: 'write', path: 'hello.txt', content: 'hello\n' }] },
  { calls: [{ tool: 'shell', command: 'cat hello.txt' }] },
  { text: 'It is there.' },
]);

describe('whetstone agent', () => {
  let gateway: Gateway;
  let folder: string;
  beforeAll(async () => {
    gateway = await createGateway();
    folder = mkdtempSync(join(tmpdir(), 'agent-'));
  });
  afterAll(async () => {
    await gateway.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function run(args: string[], env: NodeJS.ProcessEnv = {}, input?: string) {
    await using lane = await gateway.open({ owner: 'test', mode: { kind: 'script', script } });
    const call = {
      args: ['agent', ...args],
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, ...lane.env, ...env },
    };
    const finished = await (input === undefined ? runCommandLine(call) : runWithInput(call, input));
    return { ...finished, calls: lane.ledger.length };
  }

  async function runWithInput({ args, cwd, env }: Call, input: string) {
    const child = spawn(process.execPath, [BIN, ...args], { cwd, env });
    child.stdin.end(input);
    const [stdout, stderr, [exitCode]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    return { stdout, stderr, exitCode };
  }

  test.each(['openai', 'anthropic', 'gemini'])(
    'does a task over the wire of %s; stdout is only the answer',
    async (profile) => {
      rmSync(join(folder, 'hello.txt'), { force: true });
      const { stdout, stderr, exitCode, calls } = await run(['Write hello.txt', '--profile', profile]);
      expect({ stdout, exitCode, calls }).toEqual({ stdout: 'It is there.\n', exitCode: 0, calls: 3 });
      expect(stderr).toContain('· shell');
      expect(readFileSync(join(folder, 'hello.txt'), 'utf8')).toBe('hello\n');
    },
  );

  test('--json prints the event stream, one event per line', async () => {
    const { stdout, exitCode } = await run(['-', '--profile', 'openai', '--json'], {}, 'Write hello.txt\n');
    const types = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    expect(exitCode).toBe(0);
    expect(types[0]).toBe('session.started');
    expect(types).toEqual(expect.arrayContaining(['message', 'action.called', 'action.result', 'usage']));
  });

  test('no key, an empty prompt, no such folder: exit 2 and how to fix it', async () => {
    const none = { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '', GEMINI_API_KEY: '' };
    expect(await run(['x'], none)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('API_KEY') });
    expect(await run(['-'], {}, '  \n')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('empty'),
    });
    expect(await run(['x', '--cd', 'nowhere'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--cd'),
    });
  });

  test('a wrong key ends it with exit 1', async () => {
    const { exitCode, stderr } = await run(['x', '--profile', 'openai'], { OPENAI_API_KEY: 'wrong' });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('Not completed');
    expect(stderr).not.toContain('wrong');
  });
});
