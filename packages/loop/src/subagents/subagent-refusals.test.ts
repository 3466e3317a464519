import { expect, test } from 'vitest';
import { calls, says, scriptedModel, toolCall } from '../__fixtures__/scripted-model.ts';
import { startSession } from '../__fixtures__/start-session.ts';
import { LlmError } from '../llm/llm-error.ts';
import { family, spawn, wait, withAgent } from './__fixtures__/family.ts';

test.each(['', ' \n '])(
  'an agent without a task (%j) is not started, and the model reads why',
  async (task) => {
    await using run = await startSession([spawn(task), says('ok')]);
    await run.session.submit('lead');
    expect(run.of('SUBAGENT_START')).toEqual([]);
    expect(run.of('TOOL_CALL_END')[0]?.data).toMatchObject({
      isError: true,
      output: expect.stringContaining('The task of the agent is empty'),
    });
  },
);

test('an empty message to an agent is an error, and the agent stays as it was', async () => {
  const send = withAgent((agent_id) => calls(toolCall('send_input', { agent_id, message: '' })));
  await using run = await startSession(
    family({ lead: [spawn('child'), wait, send, wait, says('ok')], child: [says('all is well')] }),
  );
  await run.session.submit('lead');
  const [, waited, sent, again] = run.of('TOOL_CALL_END').map(({ data }) => data.output);
  expect(sent).toMatch(/The message to agent agent_\w+ is empty/);
  expect(again).toBe(waited);
});

test('a message to an agent whose session has ended says why that failed', async () => {
  const send = withAgent((agent_id) => calls(toolCall('send_input', { agent_id, message: 'go on' })));
  const refused = scriptedModel([new LlmError('model-authentication-failed', 'The key is wrong.')]);
  await using run = await startSession([spawn('child', { model: 'other' }), wait, send, wait, says('ok')], {
    subagents: { resolveModel: () => ({ model: refused }) },
  });
  await run.session.submit('lead');
  const [, waited, sent, again] = run.of('TOOL_CALL_END').map(({ data }) => data.output);
  expect(waited).toMatch(/FAILED .*\nIt ended early: error \(The key is wrong/);
  expect(sent).toMatch(/Agent agent_\w+ cannot continue\. It ended early: error \(The key is wrong/);
  expect(again).toBe(waited);
});
