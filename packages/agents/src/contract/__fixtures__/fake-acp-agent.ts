/**
 * An agent without a model that speaks the Agent Client Protocol with the library of its makers. It plays the scene that
 * its prompt names. Arguments: those of the program.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import {
  agent,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type RequestPermissionRequest,
} from '@agentclientprotocol/sdk';
import { playScene, Question } from './play-scene.ts';
import { printNow } from './print-now.ts';

const args = process.argv.slice(2);
const sessions = join(process.env.HOME ?? '', '.fake-sessions');
let resumed: string | undefined;

const app = agent({ name: 'fake' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: 'fake', version: '9.9.9' },
    agentCapabilities: { sessionCapabilities: { resume: {} } },
  }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: NEW_SESSION, modes }))
  .onRequest(methods.agent.session.resume, ({ params }) => {
    if (!existsSync(join(sessions, params.sessionId))) throw RequestError.resourceNotFound(params.sessionId);
    resumed = params.sessionId;
    return { modes };
  })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const prompt = params.prompt.map((block) => (block.type === 'text' ? block.text : '')).join('');
    const scene = playScene({
      ...{ formatName: 'acp', prompt },
      args: [...args, '--session-id', resumed ?? NEW_SESSION, ...(resumed === undefined ? [] : [resumed])],
    });
    for (let next = await scene.next(); !next.done; next = await scene.next()) {
      const printed = next.value;
      if (printed instanceof Question) {
        await client.request(methods.client.session.requestPermission, printed.content as RequestPermissionRequest);
        continue;
      }
      if (isAnswer(printed)) {
        // What the scene does after its last word comes after the answer.
        setTimeout(() => scene.next(), 20);
        return answerOf(printed);
      }
      printNow(printed);
    }
    return { stopReason: 'end_turn' as const };
  });

const NEW_SESSION = crypto.randomUUID();
const modes = { currentModeId: 'default', availableModes: [{ id: 'default', name: 'Default' }] };

type Answer = { error?: { message: string }; result?: { stopReason: 'end_turn' } };

const isAnswer = (printed: unknown): printed is Answer =>
  typeof printed === 'object' && printed !== null && 'id' in printed;

/** The library gives the answer the id of the request. */
function answerOf({ error, result }: Answer) {
  if (error) throw new RequestError(-32603, error.message);
  return result ?? { stopReason: 'end_turn' as const };
}

const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
const connection = app.connect(ndJsonStream(Writable.toWeb(process.stdout), input));
await connection.closed;
