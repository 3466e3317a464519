import type { Format } from './formats.ts';

let made = 0;
const nextId = (): string => `part_${(made += 1)}`;

/** What the server of OpenCode sends of a turn. */
export const opencodeServer: Format = {
  begin: (sessionID) => [
    {
      type: 'message.updated',
      properties: { sessionID, info: { id: 'msg_1', role: 'assistant', modelID: 'model-1' } },
    },
  ],
  work(session, said, command, output) {
    const call = { type: 'tool', tool: 'bash', callID: nextId() };
    const input = { command };
    return [
      text(session, said),
      opencodePart(session, { ...call, state: { status: 'running', input } }),
      // About what is always allowed, because this call runs in every scene.
      asked(session, call.callID, { permission: 'list', patterns: ['*'] }),
      opencodePart(session, { ...call, state: { status: 'completed', input, output, metadata: { exit: 0 } } }),
    ];
  },
  done: (session, said) => [text(session, said), finish(session, 'stop')],
  failed: (sessionID, message) => [
    { type: 'session.error', properties: { sessionID, error: { name: 'APIError', data: { message } } } },
  ],
  answer: (sessionID, structured) => [
    finish(sessionID, 'tool-calls'),
    {
      type: 'message.updated',
      properties: { sessionID, info: { id: 'msg_1', role: 'assistant', modelID: 'model-1', structured } },
    },
  ],
};

export const opencodePart = (sessionID: string, fields: object) => ({
  type: 'message.part.updated',
  properties: { sessionID, part: { id: nextId(), messageID: 'msg_1', ...fields } },
});
const asked = (sessionID: string, callID: string, about: object) => ({
  type: 'permission.asked',
  properties: { sessionID, id: nextId(), metadata: {}, tool: { callID }, ...about },
});
const text = (session: string, said: string) => opencodePart(session, { type: 'text', text: said, time: { end: Date.now() } });
const finish = (session: string, reason: string) =>
  opencodePart(session, { type: 'step-finish', reason, tokens: { input: 10, output: 5 }, cost: 0 });
