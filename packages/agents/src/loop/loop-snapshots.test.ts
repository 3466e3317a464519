import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deriveAgentMetadata, replyText } from '@whetstone/events';
import { createGateway, defineScript } from '@whetstone/gateway';
import { expect, test } from 'vitest';
import { agentConfig, startAttempt, type TestAttempt } from '../__fixtures__/attempt.ts';
import type { AgentContext, Turn } from '../agent.ts';
import { createAgent } from '../create-agent.ts';

/** A model that reports which prompts it remembers, how often it was stopped, and the last output of the shell. */
const script = defineScript({
  name: 'memory',
  play({ step, text, userText, toolResults }) {
    const command = userText.includes('Hang') ? 'touch hanging; sleep 600' : 'echo $((6 * 7))';
    if (step === 0)
      return { calls: [{ tool: 'shell', command }], usage: { inputTokens: 20, outputTokens: 2 } };
    const parts = ['Remember tea.', 'Hang on.', 'Aborted by the time limit', 'What was it?'];
    const said = toolResults.map(({ output }) => output.trim().split('\n').at(-1));
    return {
      text: [...parts.filter((part) => text.includes(part)), ...said].join(' '),
      usage: { inputTokens: 10, outputTokens: 1 },
    };
  },
});

/** One turn of an agent that is created for this turn, as after a restart of the harness. */
async function play(attempt: TestAttempt, prompt: string, given: Partial<AgentContext> = {}): Promise<Turn> {
  await using gateway = await createGateway();
  await using lane = await gateway.open({ owner: 'a', mode: { kind: 'script', script } });
  const config = agentConfig({ kind: 'loop', loop: { profile: 'openai' } });
  const agent = await createAgent(config, { environment: {}, hasLanes: true });
  expect(agent.capabilities).toMatchObject({ conversation: true });
  return await agent.send({ text: prompt }, { ...attempt.context, lane, ...given });
}

test.concurrent('a new agent resumes a session, and each turn has its own usage', async () => {
  await using attempt = await startAttempt('');
  const { session, files } = attempt.context;
  const first = await play(attempt, 'Remember tea.');
  const { id } = session;
  expect(id).toBe(deriveAgentMetadata(first.events).sessionId);
  expect(first.events[0]).not.toHaveProperty('resumed');

  const second = await play(attempt, 'What was it?', { session: { isNew: false, id } });
  expect(second.status).toBe('completed');
  expect(replyText(second.events)).toBe('Remember tea. What was it? 42');
  expect(second.events[0]).toMatchObject({ type: 'session.started', sessionId: id, resumed: true });
  expect(second.usage).toMatchObject({ inputTokens: 30, outputTokens: 3 });
  expect(second.usage).toEqual(first.usage);

  // Commands of the agent do not learn of the folder.
  expect(await readdir(files.stateDir)).toEqual([`session-${id}.json`]);
  expect((await stat(join(files.stateDir, `session-${id}.json`))).mode & 0o777).toBe(0o600);
  const seen = JSON.stringify(await readdir(attempt.sandbox.home, { recursive: true }));
  expect(seen).not.toContain(id);
});

test.concurrent('the session includes a turn that was stopped', async () => {
  await using attempt = await startAttempt('');
  const stopped = await play(attempt, 'Hang on.', { timeoutMs: 3_000 });
  expect(stopped).toMatchObject({ status: 'failed', exit: { ended: 'timeout' } });
  const { id } = attempt.context.session;
  const turn = await play(attempt, 'What was it?', { session: { isNew: false, id } });
  expect(turn.status).toBe('completed');
  expect(replyText(turn.events)).toMatch(/^Hang on\. Aborted by the time limit What was it\?/);
});

test.concurrent('two sessions of one attempt do not mix', async () => {
  await using attempt = await startAttempt('');
  await play(attempt, 'Remember tea.');
  const other = { isNew: true };
  const turn = await play(attempt, 'What was it?', { session: other });
  expect(replyText(turn.events)).toBe('What was it? 42');
  expect(other).not.toEqual(attempt.context.session);
});

test.concurrent.each([
  ['does not exist', 'gone', undefined],
  ['was not made by the loop', '../state/session-x', undefined],
  ['is not JSON', 'x', '{'],
  ['is not a snapshot', 'x', '{"version":1,"id":"x","turns":[{}]}'],
])('a session that %s is an error of its own', async (_, id, content) => {
  await using attempt = await startAttempt('');
  const file = join(attempt.context.files.stateDir, 'session-x.json');
  if (content !== undefined) await writeFile(file, content);
  const sent = play(attempt, 'What was it?', { session: { isNew: false, id } });
  await expect(sent).rejects.toMatchObject({
    code: 'agent-session-missing',
    message: expect.stringContaining(id),
  });
  if (content !== undefined) expect(await readFile(file, 'utf8')).toBe(content);
});
