/** Asks for a form, and says which prompt it got and how the form was answered. Arguments: its prompt capabilities. */
import { createInterface } from 'node:readline';

const send = (message: object) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
const update = (update: object) => send({ method: 'session/update', params: { sessionId: 's', update } });
const promptCapabilities = Object.fromEntries(process.argv.slice(2).map((name) => [name, true]));
const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
let offered: unknown;
let asked: { id: unknown; prompt: unknown } | undefined;
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === 'initialize') {
    offered = params.clientCapabilities.elicitation;
    send({ id, result: { protocolVersion: 1, agentInfo: { name: 'teller', version: '1' }, agentCapabilities: { promptCapabilities } } });
  }
  if (method === 'session/new') send({ id, result: { sessionId: 's' } });
  if (method === 'session/prompt') {
    asked = { id, prompt: params.prompt };
    const form = { sessionId: 's', toolCallId: 'c', mode: 'form', message: 'Which name?', requestedSchema };
    update({ sessionUpdate: 'tool_call', toolCallId: 'c', title: 'tickets-open', kind: 'other' });
    send({ id: 0, method: 'elicitation/create', params: form });
  }
  if (method !== undefined || !asked) return;
  const text = JSON.stringify({ offered, prompt: asked.prompt, form: result });
  update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  send({ id: asked.id, result: { stopReason: 'end_turn' } });
});
