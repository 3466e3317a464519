import { expect, test } from 'vitest';
import { says } from '../__fixtures__/scripted-model.ts';
import { startSession } from '../__fixtures__/start-session.ts';
import { LlmError } from '../llm/llm-error.ts';

test.each<[string, unknown, string]>([
  ['true', true, 'it returned a value of type boolean'],
  ['false', false, 'it returned a value of type boolean'],
  ['a text', 'hi', 'it returned a value of type string'],
  ['a list', ['hi'], 'it returned a list'],
  ['an empty object', {}, 'input is missing: it returned an empty object'],
  ['a misspelt field', { inputs: 'hi' }, 'input is missing: it returned an object with inputs'],
  ['a decision that there is not', { decision: 'deny' }, 'the decision "deny" is unknown'],
])(
  'beforeSubmit that answers with %s blocks the input, and says what it may return',
  async (_, answer, why) => {
    await using run = await startSession([], { hooks: { beforeSubmit: () => answer as never } });
    expect(await run.session.submit('go')).toMatchObject({ reason: 'blocked', modelCalls: 0 });
    expect(run.of('ERROR')[0]?.data).toEqual({
      code: 'hook-failed',
      message: `the hook beforeSubmit failed: beforeSubmit: ${why}; return { input }, { decision: 'block', reason }, or nothing`,
    });
  },
);

test('beforeSubmit that returns null changes nothing, and a block without a reason is a block', async () => {
  await using run = await startSession([], { hooks: { beforeSubmit: () => null as never } });
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed' });
  await using block = await startSession([], {
    hooks: { beforeSubmit: () => ({ decision: 'block' }) as never },
  });
  expect((await block.session.submit('go')).error?.message).toBe('the host blocked the input');
});

test.each<[string, unknown, string]>([
  ['true', true, 'it returned a value of type boolean'],
  ['false', false, 'it returned a value of type boolean'],
  ['a text', 'run the tests', 'it returned a value of type string'],
  ['a misspelt field', { continue: 'more' }, 'continueWith is missing: it returned an object with continue'],
])('beforeStop that answers with %s is reported, and the input ends', async (_, answer, why) => {
  await using run = await startSession([says('a')], { hooks: { beforeStop: () => answer as never } });
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed', text: 'a' });
  expect(run.of('ERROR').map(({ data }) => data.message)).toEqual([
    `the hook beforeStop failed: beforeStop: ${why}; return { continueWith }, or nothing`,
  ]);
});

const answered = (turns: readonly { kind: string }[]) => turns.filter(({ kind }) => kind === 'assistant');

test.each<[string, (turns: readonly { kind: string }[]) => unknown, string]>([
  ['true', () => true, 'it returned a value of type boolean; return { turns }, or nothing'],
  ['a list of turns', (turns) => turns, 'it returned a list; return { turns }, or nothing'],
  ['no turns', () => ({}), 'turns is missing: it returned an empty object; return { turns }, or nothing'],
  ['an empty list', () => ({ turns: [] }), 'turns is an empty list; keep what the model has to answer'],
  [
    'turns without the input',
    (turns) => ({ turns: answered(turns) }),
    'turns[0], the last one, is an answer of the model; keep what it has to answer next',
  ],
])('onContextOverflow that answers with %s is reported, and the history stays', async (_, answer, why) => {
  const tooLong = new LlmError('model-context-overflow', 'too long');
  await using run = await startSession([says('one'), tooLong], {
    hooks: { onContextOverflow: ({ turns }) => answer(turns) as never },
  });
  await run.session.submit('first');
  expect(await run.session.submit('second')).toMatchObject({ reason: 'context_overflow' });
  expect(run.of('ERROR')[0]?.data.message).toBe(
    `the hook onContextOverflow failed: onContextOverflow: ${why}`,
  );
  expect(run.model.requests).toHaveLength(2);
  expect(run.session.history.map(({ kind }) => kind)).toEqual(['user', 'assistant', 'user']);
});
