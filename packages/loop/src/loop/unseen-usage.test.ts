import { expect, test } from 'vitest';
import { finish, says, textParts } from '../__fixtures__/scripted-model.ts';
import { startSession } from '../__fixtures__/start-session.ts';

const unreported = {
  ...finish('stop'),
  usage: {
    inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: undefined, text: undefined, reasoning: undefined },
  },
} as ReturnType<typeof finish>;

test.each([
  ['an empty answer with its usage', [finish('stop')], undefined],
  ['a broken answer with its usage', [finish('error', 'MALFORMED_RESPONSE')], undefined],
  ['an empty answer without usage', [unreported], 1],
  ['an answer that broke off', textParts('half'), 1],
])('after %s, the end of the call says how often the usage was not seen', async (_, first, unseenUsage) => {
  await using run = await startSession([first, says('ok')]);
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed', text: 'ok' });
  const [end] = run.of('LLM_CALL_END');
  expect(end?.data).toMatchObject({ retries: 1 });
  expect(end?.data.unseenUsage).toBe(unseenUsage);
});

test('a good answer without usage is one whose usage was not seen', async () => {
  await using run = await startSession([[...textParts('ok'), unreported]]);
  await run.session.submit('go');
  expect(run.of('LLM_CALL_END')[0]?.data.unseenUsage).toBe(1);
});
