import { join } from 'node:path';
import { deriveAgentMetadata } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { expect, test } from 'vitest';
import { agentConfig, startAttempt } from '../../__fixtures__/attempt.ts';
import { fixtureCommand } from '../../__fixtures__/fixture-command.ts';
import { createAgent } from '../../create-agent.ts';
import type { PolicyRule } from '../../policy/policy.ts';

const START = fixtureCommand(join(import.meta.dirname, '__fixtures__/asking-agent.ts'));

async function turnWith(policy?: PolicyRule[]) {
  await using attempt = await startAttempt('Do it.');
  const command = { kind: 'argv' as const, argv: START };
  const agent = await createAgent(agentConfig({ kind: 'acp', command, ...present({ policy }) }));
  const turn = await agent.send({ text: 'Do it.' }, attempt.context);
  const { approvals, tools } = deriveAgentMetadata(turn.events, turn.facts);
  const said = turn.events.flatMap((event) => (event.type === 'message' ? event.text : []));
  const statuses = tools.map(({ status }) => status);
  return {
    status: turn.status,
    said,
    statuses,
    approvals: approvals.map(({ decision, rule }) => [decision, rule]),
  };
}

test('a question of a command is denied by default, and the command is offered no files of the host', async () => {
  expect(await turnWith()).toEqual({
    ...{ status: 'completed', said: ['reject_once reject_once -32601'], statuses: ['rejected', 'rejected'] },
    approvals: [
      ['denied', 'permissions.shell: ask'],
      ['denied', 'permissions.filesystem: read-only'],
    ],
  });
});

test('a rule allows one call at a time', async () => {
  const { said, approvals } = await turnWith([{ allow: { command: 'npm test' } }]);
  expect(said).toEqual(['allow_once reject_once -32601']);
  expect(approvals.map(([decision]) => decision)).toEqual(['approved', 'denied']);
});
