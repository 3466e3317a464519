import type { PolicyRequest } from '@whetstone/agents';
import { expect, test } from 'vitest';
import { decisionBy } from './respond.ts';

const request: PolicyRequest = {
  ...{ callId: '1', kind: 'question' },
  questions: [
    { id: 'colour', text: 'Which colour?', options: [] },
    { id: 'size', text: 'Which size?', options: [] },
  ],
};

test('an answer has something for every question, by its id or its text', async () => {
  const answers = { colour: 'red', 'Which size?': 'small' };
  expect(await decisionBy(() => answers, request)).toMatchObject({
    ...{ decision: 'approved', answers: { colour: ['red'], size: ['small'] } },
  });
  await expect(decisionBy(() => ({ colour: 'red' }), request)).rejects.toThrow(
    'respond(): the answer has nothing for the question "Which size?".',
  );
});
