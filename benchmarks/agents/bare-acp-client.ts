import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** The least that a client of the Agent Client Protocol does: a session, a prompt, and every question allowed. */
export async function askOverProtocol(
  input: Writable,
  output: Readable,
  { prompt, cwd }: { prompt: string; cwd: string },
): Promise<void> {
  const send = (message: object) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  send({ id: 'begin', method: 'initialize', params: { protocolVersion: 1, clientCapabilities: {} } });
  for await (const line of createInterface({ input: output })) {
    const { id, method, params, result } = JSON.parse(line);
    if (id === 'begin') send({ id: 'open', method: 'session/new', params: { cwd, mcpServers: [] } });
    if (id === 'open') {
      const content = [{ type: 'text', text: prompt }];
      send({ id: 'ask', method: 'session/prompt', params: { sessionId: result.sessionId, prompt: content } });
    }
    if (method === 'session/request_permission') {
      const { optionId } = params.options.find(({ kind }: { kind: string }) => kind === 'allow_once');
      send({ id, result: { outcome: { outcome: 'selected', optionId } } });
    }
    if (id === 'ask') return;
  }
}
