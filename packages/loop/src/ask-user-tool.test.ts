import { expect, test, vi } from 'vitest';
import { calls, says, toolCall } from './__fixtures__/scripted-model.ts';
import { startSession } from './__fixtures__/start-session.ts';

const question = () =>
  calls(toolCall('ask_user', { question: 'Tabs or spaces?', options: ['tabs', 'spaces'] }));

test('a question waits for the answer that submit() gives', async () => {
  await using run = await startSession([question(), says('tabs it is')], { askUser: true });
  const first = run.session.submit('format it');
  await vi.waitUntil(() => run.session.state === 'AWAITING_INPUT');
  expect(run.of('INPUT_REQUESTED')[0]?.data).toMatchObject({
    question: 'Tabs or spaces?',
    options: ['tabs', 'spaces'],
  });
  const second = run.session.submit('tabs');
  expect(run.session.state).toBe('PROCESSING');
  expect(await second).toMatchObject({ reason: 'completed', text: 'tabs it is' });
  expect(await first).toEqual(await second);
  expect(run.of('PROCESSING_END')).toHaveLength(1);
  expect(run.of('USER_INPUT')).toHaveLength(1);
  expect(run.of('TOOL_CALL_END')[0]?.data).toMatchObject({ output: 'tabs', isError: false });
});

test('an interrupt ends the question', async () => {
  await using run = await startSession([question(), says('ok')], { askUser: true });
  const submitted = run.session.submit('format it');
  await vi.waitUntil(() => run.session.state === 'AWAITING_INPUT');
  await run.session.interrupt();
  expect(await submitted).toMatchObject({ reason: 'interrupted' });
  expect(run.session.state).toBe('IDLE');
  expect(await run.session.submit('go on')).toMatchObject({ reason: 'completed', text: 'ok' });
});

test('without a user there is no such tool, and a question in a text is just a text', async () => {
  await using run = await startSession([says('Tabs or spaces?')]);
  expect(await run.session.submit('format it')).toMatchObject({ reason: 'completed' });
  expect(run.session.state).toBe('IDLE');
  expect(JSON.stringify(run.model.requests[0]?.tools)).not.toContain('ask_user');
});
