import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NeutralMessage } from '../wire/neutral.ts';
import { currentTurn } from './turn.ts';

const user = (text = 'prompt'): NeutralMessage => ({ role: 'user', text });
const answer: NeutralMessage = { role: 'assistant', text: 'Done.', thinking: '', toolCalls: [] };
const round: NeutralMessage[] = [
  {
    role: 'assistant',
    text: '',
    thinking: '',
    toolCalls: [{ kind: 'function', id: 'c', name: 'shell', input: {} }],
  },
  { role: 'tool', toolResults: [{ callId: 'c', name: 'shell', output: '' }] },
];
const structured: NeutralMessage[] = [
  {
    role: 'assistant',
    text: '',
    thinking: '',
    toolCalls: [{ kind: 'function', id: 'd', name: 'StructuredOutput', input: {} }],
  },
  { role: 'tool', toolResults: [{ callId: 'd', name: 'StructuredOutput', output: 'taken' }] },
];

test.each([
  ['the first prompt', [user()], 0],
  ['environment and project instructions before the prompt', [user('<env>'), user('# AGENTS.md'), user()], 0],
  ['one round', [user(), ...round], 1],
  ['steering between rounds', [user(), ...round, user('also do this'), ...round], 2],
  ['steering after the last round', [user(), ...round, user('also do this')], 1],
  ['a second turn', [user(), ...round, answer, user('next')], 0],
  ['rounds of a second turn', [user(), ...round, answer, user('next'), ...round, ...round], 2],
  ['a turn after an answer through a tool of its own', [user(), ...round, ...structured, user('next')], 0],
  ['an answer through a tool, which was refused', [user(), ...round, ...structured], 2],
  ['an answer that nobody has replied to', [user(), ...round, answer], 2],
  ['no messages', [], 0],
] as const)('%s', (_what, messages, step) => {
  expect(currentTurn(messages).step).toBe(step);
});

test('the result of the tool for an answer belongs to the turn before', () => {
  expect(currentTurn([user(), ...structured, user('next')]).messages).toEqual([user('next')]);
});

test('the step counts the replies of the last turn, whatever users say between rounds', () => {
  const steering = fc.array(fc.constant(user('steer')), { maxLength: 2 });
  const rounds = fc
    .array(steering, { maxLength: 5 })
    .map((each) => each.map((messages) => [...round, ...messages]));
  const turn = fc.record({ prompts: fc.integer({ min: 1, max: 3 }), rounds });
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 4 }), (turns) => {
      const messages = turns.flatMap(({ prompts, rounds }, index) => [
        ...Array.from({ length: prompts }, () => user()),
        ...rounds.flat(),
        ...(index < turns.length - 1 ? [answer] : []),
      ]);
      expect(currentTurn(messages).step).toBe(turns.at(-1)?.rounds.length);
    }),
  );
});
