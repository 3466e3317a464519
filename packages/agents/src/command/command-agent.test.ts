import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deriveAgentMetadata, replyText } from '@whetstone/events';
import { expect, test } from 'vitest';
import { agentConfig, startAttempt, type TestAttempt } from '../__fixtures__/attempt.ts';
import type { Turn } from '../agent.ts';
import type { AgentConfig } from '../config.ts';
import { createAgent } from '../create-agent.ts';

const hostilePrompt = 'Mend `touch pwned` and $(touch pwned), "both"\nand \'this\' é';

async function sendTo(attempt: TestAttempt, config: Partial<AgentConfig>, environment = {}): Promise<Turn> {
  const agent = await createAgent(agentConfig(config), { environment, hasLanes: true });
  return agent.send({ text: hostilePrompt }, attempt.context);
}

test('scripts and argument vectors receive the prompt as plain text', async () => {
  await using attempt = await startAttempt(hostilePrompt);
  const script = await sendTo(attempt, {
    command: { kind: 'shell', script: 'printf %s "{prompt}"; pwd > where' },
  });
  const argv = await sendTo(attempt, { command: { kind: 'argv', argv: ['printf', '%s', '{prompt}'] } });
  expect(replyText(script.events)).toBe(hostilePrompt);
  expect(replyText(argv.events)).toBe(hostilePrompt);
  expect(await readFile(join(attempt.workdir, 'where'), 'utf8')).toBe(`${attempt.workdir}\n`);
  expect((await attempt.sandbox.runShell('ls')).stdout).toBe('where\n');
});

test('a completed turn has events, output and facts', async () => {
  await using attempt = await startAttempt('do it');
  const turn = await sendTo(attempt, {
    command: {
      kind: 'shell',
      script: 'cat {prompt_file}; echo; echo task={task_id} variant={variant} > {output_dir}/x',
    },
  });
  expect(turn).toMatchObject({ status: 'completed', exit: { ended: 'exit', exitCode: 0 } });
  expect(turn.events.map(({ type }) => type)).toEqual(['session.started', 'message']);
  expect(turn.events).toEqual(attempt.emitted);
  expect(deriveAgentMetadata(turn.events, turn.facts)).toMatchObject({
    runtime: 'custom',
    workingDir: attempt.workdir,
  });
  expect(await readFile(attempt.context.files.stdoutFile, 'utf8')).toBe('do it\n');
  expect(await readFile(join(attempt.context.files.outputDir, 'x'), 'utf8')).toBe(
    'task=task-1 variant=baseline\n',
  );
});

test.each([
  ['a failure', 'echo out; echo went wrong >&2; exit 4', 'The agent ended with exit code 4.\nwent wrong', 4],
  ['a program that is not there', 'no-such-agent', 'The agent was not found (exit code 127).', 127],
])('%s is a failed turn with evidence', async (_, script, message, exitCode) => {
  await using attempt = await startAttempt('do it');
  const turn = await sendTo(attempt, { command: { kind: 'shell', script } });
  expect(turn).toMatchObject({ status: 'failed', exit: { ended: 'exit', exitCode } });
  expect(deriveAgentMetadata(turn.events).errors.join()).toContain(message);
});

test('a time limit or an abort ends the turn and keeps earlier output', async () => {
  await using slow = await startAttempt('do it', { timeoutMs: 200 });
  const command = { kind: 'shell', script: 'echo before; sleep 600' } as const;
  expect(await sendTo(slow, { command })).toMatchObject({ status: 'failed', exit: { ended: 'timeout' } });
  const abort = new AbortController();
  await using aborted = await startAttempt('do it', { signal: abort.signal });
  const sent = sendTo(aborted, { command });
  const printed = () => readFile(aborted.context.files.stdoutFile, 'utf8').catch(() => '');
  await expect.poll(printed).toContain('before');
  abort.abort();
  const turn = await sent;
  expect(turn).toMatchObject({ status: 'failed', exit: { ended: 'abort' } });
  expect(replyText(turn.events)).toBe('before');
});

test('declared variables reach the agent and are masked in its log', async () => {
  await using attempt = await startAttempt('do it');
  const turn = await sendTo(
    attempt,
    {
      env: { AGENT_KEY: `\${TEAM_KEY}`, MODE: 'fast', LITERAL_TOKEN: 'literal-token-1' },
      command: {
        kind: 'shell',
        script: 'echo $MODE $AGENT_KEY $LITERAL_TOKEN; [ "$AGENT_KEY" = sk-very-secret-1 ]',
      },
    },
    { TEAM_KEY: 'sk-very-secret-1' },
  );
  expect(turn.status).toBe('completed');
  expect(replyText(turn.events)).toBe('fast [masked] [masked]');
  expect(await readFile(attempt.context.files.stdoutFile, 'utf8')).toBe('fast [masked] [masked]\n');
});

test('missing variables are an error before anything runs', async () => {
  const config = agentConfig({
    env: { A: `\${NOT_SET}`, B: `x\${ALSO_NOT}` },
    command: { kind: 'argv', argv: ['true'] },
  });
  const creating = createAgent(config, { environment: { ALSO_NOT: '' }, hasLanes: true });
  await expect(creating).rejects.toMatchObject({
    code: 'env-missing',
    exitCode: 2,
    message: expect.stringContaining('NOT_SET, ALSO_NOT'),
  });
});

test("a template can name the lane's address and key, and the agent gets the lane's variables", async () => {
  await using attempt = await startAttempt('do it', {
    lane: { baseUrl: 'http://127.0.0.1:9/lanes/a', key: 'lane-key', env: { LANE: 'from the lane' } },
  });
  const turn = await sendTo(attempt, {
    command: {
      kind: 'argv',
      argv: ['sh', '-c', 'echo "$1 $2 $LANE"', 'sh', '{gateway_url}', '{gateway_key}'],
    },
  });
  expect(replyText(turn.events)).toBe('http://127.0.0.1:9/lanes/a lane-key from the lane');
});

test('the message of a long output is its end, without terminal sequences', async () => {
  await using attempt = await startAttempt('do it');
  const turn = await sendTo(attempt, {
    command: { kind: 'shell', script: "yes é | head -n 100000; printf '\\033[31mdone\\033[0m\\n'" },
  });
  const reply = replyText(turn.events);
  expect(Buffer.byteLength(reply)).toBeLessThanOrEqual(16 * 1024);
  expect(reply).toMatch(/^[é\n]+done$/);
});
