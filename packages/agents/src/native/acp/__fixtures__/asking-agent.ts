/** Asks for two calls, and for a file system that no client offered; says which answers it got. */
import { createInterface } from 'node:readline';

const send = (message: object) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
const update = (update: object) => send({ method: 'session/update', params: { sessionId: 's', update } });
const option = (kind: string) => ({ optionId: kind, name: kind, kind });
const options = ['allow_always', 'allow_once', 'reject_once'].map(option);
const answers: unknown[] = [];
let prompt: unknown;
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
  if (method === 'session/new') send({ id, result: { sessionId: 's', servers: params.mcpServers } });
  if (method === 'session/prompt') {
    prompt = id;
    const ask = (id: number, toolCall: object) => send({ id, method: 'session/request_permission', params: { sessionId: 's', toolCall, options } });
    ask(0, { toolCallId: 'a', title: 'npm test', kind: 'execute' });
    ask(1, { toolCallId: 'b', title: 'Edit', kind: 'edit', locations: [{ path: process.cwd() + '/made.txt' }] });
    send({ id: 2, method: 'fs/read_text_file', params: { sessionId: 's', path: '/etc/hostname' } });
  }
  if (method === undefined) answers[id] = result?.outcome.optionId ?? error.code;
  if (answers.filter(() => true).length < 3 || prompt === undefined) return;
  update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: answers.join(' ') } });
  send({ id: prompt, result: { stopReason: 'end_turn' } });
  prompt = undefined;
});
