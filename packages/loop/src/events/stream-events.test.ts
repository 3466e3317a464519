import { deriveAgentMetadata, type StreamEvent, streamEventSchema } from '@whetstone/events';
import { expect, test } from 'vitest';
import { calls, finish, says, scriptedModel, textParts, toolCall } from '../__fixtures__/scripted-model.ts';
import { temporaryEnvironment } from '../__fixtures__/temporary-directory.ts';
import { createOpenAiProfile } from '../profiles/openai-profile.ts';
import { Session } from '../session/session.ts';
import { createStreamEventMapper } from './stream-events.ts';

test('a session in the shared vocabulary', async () => {
  await using place = await temporaryEnvironment();
  const patch = '*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch';
  const model = scriptedModel([
    [
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'broken' },
    ],
    [
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'hmm' },
      { type: 'reasoning-end', id: 'r' },
      ...textParts('I add a file.'),
      toolCall('apply_patch', { patch }, 'call-a'),
      toolCall('shell', { command: 'exit 3' }, 'call-b'),
      finish('tool-calls'),
    ],
    says('Done.'),
    calls(toolCall('nope', '{"x"', 'call-c')),
    says('Sorry.'),
  ]);
  const session = new Session({
    profile: createOpenAiProfile({ model: 'fake-1' }),
    environment: place.environment,
    model,
    clock: { now: () => 0, random: () => 0, sleep: async () => {} },
  });
  const map = createStreamEventMapper();
  const events: StreamEvent[] = [];
  session.on((event) => events.push(...map(event)));
  await session.submit('Add a file.');
  await session.submit('More.');
  await session.close();

  for (const event of events) expect(streamEventSchema.safeParse(event).error).toBeUndefined();
  expect(events.map((event) => event.type)).toEqual([
    'session.started',
    'message',
    ...[
      'thinking',
      'message',
      'usage',
      'action.called',
      'action.result',
      'file.changed',
      'action.called',
      'action.result',
    ],
    ...['message', 'usage'],
    ...['message', 'usage', 'action.called', 'action.result', 'message', 'usage'],
  ]);
  expect(JSON.stringify(events)).not.toContain('broken');
  expect(events.at(-1)).toMatchObject({ turn: 1, source: 'agent', at: '1970-01-01T00:00:00.000Z' });
  expect(events.find((event) => event.type === 'file.changed')).toMatchObject({
    path: 'a.txt',
    change: 'added',
  });

  const metadata = deriveAgentMetadata(events);
  expect(metadata).toMatchObject({
    runtime: 'loop',
    sessionId: session.id,
    models: ['fake-1'],
    modelCalls: 4,
  });
  expect(metadata.commands).toEqual([
    { callId: 'call-b', command: 'exit 3', exitCode: 3, status: 'completed' },
  ]);
  expect(metadata.tools.at(-1)).toMatchObject({ callId: 'call-c', input: '{"x"', status: 'failed' });
});
