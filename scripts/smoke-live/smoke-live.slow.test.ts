import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGateway, type LedgerLine, type Script, scriptFromSteps } from '@whetstone/gateway';
import { expect, test } from 'vitest';
import { cooperativeModel } from './__fixtures__/cooperative-model.ts';
import { steps } from './steps.ts';

const program = join(import.meta.dirname, '../smoke-live.ts');

type Outcome = { exitCode: number; stdout: string; stderr: string };

/** Runs the command with only PATH and these variables in its environment. */
function smoke(flags: string[], environment: Record<string, string> = {}): Promise<Outcome> {
  const { PATH = '' } = process.env;
  return new Promise((resolve) => {
    const options = { env: { PATH, ...environment } };
    const child = execFile(process.execPath, [program, ...flags], options, (_error, stdout, stderr) =>
      resolve({ exitCode: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

/** Runs the command with a gateway as every provider, and checks that it leaves no files. */
async function smokeAgainst(script: Script, flags: string[] = [], environment: Record<string, string> = {}) {
  await using gateway = await createGateway();
  const lane = await gateway.open({ owner: 'smoke', mode: { kind: 'script', script } });
  const temporary = await mkdtemp(join(tmpdir(), 'whetstone-smoke-test-'));
  const fast = ['--command-timeout-ms', '400', ...flags];
  const outcome = await smoke(fast, { ...lane.env, TMPDIR: temporary, ...environment });
  await lane.close();
  expect(await readdir(temporary)).toEqual([]);
  await rmdir(temporary);
  return { ...outcome, ledger: lane.ledger };
}

/** The marks of each step's row, as `pass` and `FAIL`. */
const marks = (stdout: string): string[][] =>
  steps.map(({ title }, index) => {
    const row = stdout.split('\n').find((line) => line.startsWith(`${index + 1} ${title} `)) ?? '';
    return row.match(/pass|FAIL/g) ?? [];
  });

const modelsAsked = (ledger: readonly LedgerLine[]) => [
  ...new Set(ledger.map(({ wire, model_asked }) => `${wire} ${model_asked}`)),
];

test('a model that cooperates passes every step on every wire', async () => {
  const { exitCode, stdout, stderr, ledger } = await smokeAgainst(
    cooperativeModel(),
    ['--model', 'openai=gpt-a'],
    { GEMINI_MODEL: 'gemini-3-b' },
  );
  expect({ exitCode, stdout, stderr }).toMatchObject({ exitCode: 0 });
  expect(stdout).toMatch(/^step +openai \(gpt-a\) +anthropic \(claude-[\w-]+\) +gemini \(gemini-3-b\)\n/);
  expect(marks(stdout)).toEqual(Array(7).fill(['pass', 'pass', 'pass']));
  expect(stdout).not.toContain('FAIL');
  expect(modelsAsked(ledger).sort()).toEqual([
    expect.stringMatching(/^anthropic-messages claude-/),
    'gemini-generate-content gemini-3-b',
    'openai-responses gpt-a',
  ]);
});

test('a model that does nothing fails every step', async () => {
  const { exitCode, stdout } = await smokeAgainst(scriptFromSteps('idle', []));
  expect(exitCode).toBe(1);
  expect(marks(stdout)).toEqual(Array(7).fill(['FAIL', 'FAIL', 'FAIL']));
  const reasons = stdout.split('\n').filter((line) => line.startsWith('FAIL  gemini, '));
  expect(reasons).toEqual([
    'FAIL  gemini, 1 file creation: hello.py does not exist',
    'FAIL  gemini, 2 read and edit: hello.py does not exist',
    'FAIL  gemini, 3 shell execution: no shell call among the events',
    'FAIL  gemini, 4 truncation: no TOOL_CALL_END event has the full 100,000 characters',
    'FAIL  gemini, 5 steering: the routes are none; only /health was asked for',
    'FAIL  gemini, 6 subagent: no spawn_agent call among the events',
    'FAIL  gemini, 7 timeout: no command ran into its timeout',
  ]);
});

test('a step that the model does only in part fails, and no other step', async () => {
  const { exitCode, stdout } = await smokeAgainst(
    cooperativeModel({
      Goodbye: [[{ tool: 'write', path: 'hello.py', content: "print('Goodbye')\n" }]],
      Flask: [[{ tool: 'write', path: 'app.py', content: "@app.route('/')\n@app.route('/health')\n" }]],
      'sleep 30': [[{ tool: 'native', name: 'shell', input: { command: 'sleep 30', timeout_ms: 100 } }]],
    }),
    ['--provider', 'anthropic'],
  );
  expect(exitCode).toBe(1);
  expect(marks(stdout).flat()).toEqual(['pass', 'FAIL', 'pass', 'pass', 'FAIL', 'pass', 'FAIL']);
  expect(stdout.split('\n').filter((line) => line.startsWith('FAIL '))).toEqual([
    'FAIL  anthropic, 2 read and edit: hello.py does not contain Hello',
    'FAIL  anthropic, 5 steering: the routes are /, /health; only /health was asked for',
    'FAIL  anthropic, 7 timeout: no command ran into the default timeout of 400 ms',
  ]);
});

test('a refused key fails each step, and the key is in no output', async () => {
  const { exitCode, stdout, stderr } = await smokeAgainst(cooperativeModel(), ['--provider', 'openai'], {
    OPENAI_API_KEY: 'sk-wrong-key-0123456789',
  });
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/FAIL {2}openai, 1 file creation: ended with error: .*key/i);
  expect(marks(stdout).flat()).toEqual(Array(7).fill('FAIL'));
  expect(stdout + stderr).not.toContain('sk-wrong-key');
});

test('without a key it says which variables to set', async () => {
  const { exitCode, stderr } = await smoke([]);
  expect(exitCode).toBe(2);
  for (const name of [
    'OPENAI_API_KEY',
    'ANTHROPIC_API_KEY',
    'GOOGLE_GENERATIVE_AI_API_KEY',
    'GEMINI_API_KEY',
  ])
    expect(stderr).toContain(name);
  const other = await smoke(['--provider', 'openai'], { GEMINI_API_KEY: 'k' });
  expect(other).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('OPENAI_API_KEY') });
  expect(other.stderr).not.toContain('GEMINI_API_KEY');
});

test.each([
  [['--provider', 'acme'], 'There is no provider acme. There are: openai, anthropic, gemini.'],
  [['--model', 'gpt-5'], '--model: gpt-5 is not PROVIDER=MODEL.'],
  [['--command-timeout-ms', 'soon'], '--command-timeout-ms: soon'],
  [['--fast'], "'--fast'"],
])('wrong usage: %j', async (flags, message) => {
  const { exitCode, stderr } = await smoke(flags, { OPENAI_API_KEY: 'k' });
  expect(exitCode).toBe(2);
  expect(stderr).toContain(message);
});

test('help has examples', async () => {
  const { exitCode, stdout } = await smoke(['--help']);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('Examples:\n  OPENAI_API_KEY=... npm run smoke:live');
});
