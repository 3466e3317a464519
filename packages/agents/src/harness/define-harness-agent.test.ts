import { expect, test } from 'vitest';
import { startAttempt } from '../__fixtures__/attempt.ts';
import { defineHarnessAgent } from './define-harness-agent.ts';
import type { Harness, HarnessPart } from './harness.ts';

/** An adapter that emits these parts in each turn. */
const adapter = (parts: readonly HarnessPart[], more: Partial<Harness> = {}): Harness => ({
  specificationVersion: 'harness-v1',
  harnessId: 'scripted',
  doStart: async () => ({
    async doPromptTurn({ emit }) {
      for (const part of parts) emit(part);
      return { done: Promise.resolve() };
    },
    doStop: async () => ({}),
    doDestroy: async () => {},
  }),
  ...more,
});

async function turnOf(parts: readonly HarnessPart[], more?: Partial<Harness>) {
  await using attempt = await startAttempt('Do it.');
  const agent = defineHarnessAgent({ name: 'mine', harness: () => adapter(parts, more) });
  return await agent.send({ text: 'Do it.' }, attempt.context);
}

const step = (input: number, cacheRead = 0): HarnessPart => ({
  type: 'finish-step',
  usage: { inputTokens: { total: input, cacheRead }, outputTokens: { total: 5 } },
});
const finish: HarnessPart = { type: 'finish', finishReason: { unified: 'stop' } };

test('the usage of a turn is that of its steps, and unknown if one of them does not know it', async () => {
  const known = await turnOf([step(10), step(30, 20), finish]);
  expect(known).toMatchObject({ status: 'completed', usage: { inputTokens: 20, cacheReadTokens: 20 } });
  const unknown = await turnOf([step(10), step(0), finish]);
  expect(unknown.status).toBe('completed');
  expect(unknown.usage).toBeUndefined();
});

test.each<[string, HarnessPart[], string]>([
  ['an error', [{ type: 'error', error: new Error('no key') }, finish], 'no key'],
  ['no finish', [step(10)], 'without an answer'],
  ['an answer that was cut off', [{ type: 'finish', finishReason: 'length' }], 'without an answer'],
])('%s is a failed turn', async (_, parts, message) => {
  const turn = await turnOf(parts);
  expect(turn).toMatchObject({ status: 'failed', exit: { message: expect.stringContaining(message) } });
});

test('an adapter that installs a runtime in its sandbox is refused', async () => {
  await expect(turnOf([], { getBootstrap: () => ({}) })).rejects.toThrow('talks to it over a port');
});
