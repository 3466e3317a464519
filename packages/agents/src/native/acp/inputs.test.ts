import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deriveAgentMetadata } from '@whetstone/events';
import { toGenAiSpans } from '@whetstone/events/open-telemetry';
import { present } from '@whetstone/events/present';
import { expect, test } from 'vitest';
import { agentConfig, startAttempt } from '../../__fixtures__/attempt.ts';
import { fixtureCommand } from '../../__fixtures__/fixture-command.ts';
import { createAgent } from '../../create-agent.ts';
import type { InputItem } from '../../kit/input-items.ts';
import type { AskHuman, PolicyRequest, PolicyRule } from '../../policy/policy.ts';

const START = fixtureCommand(join(import.meta.dirname, '__fixtures__/telling-agent.ts'));
const ALL = ['image', 'embeddedContext'];

const tickets = { kind: 'command' as const, name: 'tickets', command: 'true', args: [], env: {} };
const declared = { skills: [], plugins: [], secrets: [], mcpServers: [tickets] };

async function turnWith(
  items: InputItem[],
  capabilities: string[],
  { policy = [], ask }: { policy?: PolicyRule[]; ask?: AskHuman } = {},
) {
  await using attempt = await startAttempt('Do it.');
  const { workdir } = attempt;
  await writeFile(join(workdir, 'pixel.png'), 'a picture');
  await symlink('/etc/hostname', join(workdir, 'link.png'));
  const argv = [...START, ...capabilities];
  const agent = await createAgent(agentConfig({ kind: 'acp', command: { kind: 'argv', argv }, policy }));
  const turn = await agent.send(
    { text: 'Do it.', items },
    { ...attempt.context, declared, ...present({ ask }) },
  );
  const [text = '{}'] = turn.events.flatMap((event) => (event.type === 'message' ? event.text : []));
  const { approvals } = deriveAgentMetadata(turn.events, turn.facts);
  return { ...JSON.parse(text), turn, approvals, file: pathToFileURL(join(workdir, 'pixel.png')).href };
}

/** A text with others behind it. */
const said = (text: string) => ({ type: 'text', text: `${text}\n\n` });

test('the parts of a prompt are blocks of the protocol, and what lies outside the workspace is only named', async () => {
  const { prompt, file } = await turnWith(
    [
      { type: 'text', text: 'Look.' },
      { type: 'image', path: 'pixel.png' },
      { type: 'image', path: 'link.png' },
      { type: 'file', path: 'pixel.png' },
      { type: 'file', path: '/etc/hostname' },
      { type: 'mention', name: 'Tickets', path: 'app://tickets' },
      { type: 'skill', name: 'brew-tea' },
      { type: 'diff', diff: '-a\n+b\n' },
    ],
    ALL,
  );
  expect(prompt).toEqual([
    said('Look.'),
    { type: 'image', mimeType: 'image/png', data: Buffer.from('a picture').toString('base64') },
    said('Image: link.png'),
    { type: 'resource_link', name: 'pixel.png', uri: file },
    said('File: /etc/hostname'),
    { type: 'resource_link', name: 'Tickets', uri: 'app://tickets' },
    said('Use the skill brew-tea.'),
    { type: 'resource', resource: { uri: 'prompt:7.diff', mimeType: 'text/x-diff', text: '-a\n+b\n' } },
  ]);
});

test('an agent without these capabilities gets a difference in words, and refuses an image by its name', async () => {
  const diff = { type: 'diff', diff: '-a\n' } as const;
  expect(await turnWith([diff], [])).toMatchObject({ prompt: [{ type: 'text', text: '```diff\n-a\n```' }] });
  await expect(turnWith([{ type: 'image', path: 'pixel.png' }], [])).rejects.toMatchObject({
    code: 'input-unsupported',
    message: 'Agent teller does not offer the prompt capability "image".',
  });
});

test.each([
  ['notes.txt', 'notes.txt is not an image'],
  ['gone.png', 'ENOENT'],
])('the image %s is an error of the prompt', async (path, why) => {
  await expect(turnWith([{ type: 'image', path }], ALL)).rejects.toMatchObject({
    code: 'input-unsupported',
    message: expect.stringContaining(why),
  });
});

const TEXT = [{ type: 'text' as const, text: 'Do it.' }];

test('a form is declined by default, and accepted by a rule or a human; each decision is an event', async () => {
  const declined = await turnWith(TEXT, []);
  expect(declined).toMatchObject({ offered: { form: {} }, form: { action: 'decline' } });
  expect(declined.approvals).toMatchObject([{ callId: 'c', decision: 'denied', rule: 'default' }]);
  expect(declined.turn.events).toContainEqual(
    expect.objectContaining({ type: 'approval.requested', name: 'elicitation' }),
  );
  const spans = toGenAiSpans(declined.turn.events, { agentName: 'teller' });
  for (const span of ['invoke_agent teller', 'execute_tool mcp__tickets__open']) {
    expect(JSON.stringify(spans)).toContain(span);
  }

  const policy = [{ allow: { kind: 'elicitation' as const } }];
  expect((await turnWith(TEXT, [], { policy })).form).toEqual({ action: 'accept', content: {} });

  const asked: PolicyRequest[] = [];
  const { form, approvals } = await turnWith(TEXT, [], {
    async ask(request) {
      asked.push(request);
      return { decision: 'approved', rule: 'a human', content: { name: 'Ada' } };
    },
  });
  expect(form).toEqual({ action: 'accept', content: { name: 'Ada' } });
  expect(approvals).toMatchObject([{ by: 'user' }]);
  expect(asked).toEqual([{ callId: 'c', kind: 'elicitation', server: 'tickets', message: 'Which name?' }]);
});
