/**
 * `node first-request-program.ts <wire> <submits>`: gives a session 1 MB of history and measures how long a submit takes
 * until its request has arrived at a server on this machine. Prints a `FirstRequestTimes` as JSON.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import {
  createAnthropicProfile,
  createModel,
  createOpenAiProfile,
  defineTool,
  LocalExecutionEnvironment,
  Session,
} from '@whetstone/loop';
import { createFakeModel } from './fake-model.ts';
import { LOOK_UP, QUESTION } from './work.ts';

/** Milliseconds. `headers`: from the submit to the first line of the request; `body`: to its last byte. */
export type RequestTime = { headers: number; body: number };

export type FirstRequestTimes = {
  bodyBytes: number;
  /** The first request with this history: every turn is converted for the wire. */
  first: RequestTime;
  /** Later submits of the same session. */
  later: RequestTime[];
  /** The same body, only serialised and posted with `fetch`. */
  fetched: RequestTime[];
};

const ROUNDS = 250;
const RESULT_CHARACTERS = 4_096;

async function measure(provider: 'openai' | 'anthropic', count: number): Promise<FirstRequestTimes> {
  const server = await startServer(ANSWERS[provider]);
  const profile = { openai: createOpenAiProfile, anthropic: createAnthropicProfile }[provider]({
    model: 'fake-1',
    contextWindowSize: Number.MAX_SAFE_INTEGER,
  });
  let round = 0;
  const executor = () => `entry ${round++}: `.padEnd(RESULT_CHARACTERS, 'the text of the entry, ');
  profile.toolRegistry.register(defineTool({ definition: LOOK_UP, executor }));
  await using session = new Session({
    profile,
    environment: new LocalExecutionEnvironment(),
    model: createFakeModel(ROUNDS),
    config: { maxToolRoundsPerInput: 0 },
  });
  await session.submit(QUESTION);
  session.setModel(
    await createModel({ provider, model: 'fake-1', baseUrl: server.baseUrl, apiKey: 'no-key-is-needed' }),
  );
  const submit = async () => {
    const { reason, error } = await session.submit(QUESTION);
    if (reason !== 'completed') throw new Error(`the submit ended with ${reason}: ${error?.message}`);
  };
  const first = await server.time(submit);
  const body = JSON.parse(server.lastBody().toString());
  const post = async () => {
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify(body) };
    await (await fetch(server.baseUrl, request)).text();
  };
  const later: RequestTime[] = [];
  const fetched: RequestTime[] = [];
  for (let index = 0; index < count; index += 1) {
    later.push(await server.time(submit));
    fetched.push(await server.time(post));
  }
  await server.close();
  return { bodyBytes: server.lastBody().length, first, later, fetched };
}

/** A server that answers every request with the same events, and measures when the last request arrived. */
async function startServer(events: readonly { type: string }[]) {
  let arrived: RequestTime = { headers: 0, body: 0 };
  let lastBody: Buffer = Buffer.alloc(0);
  const answer = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  const receive = async (request: IncomingMessage) => {
    const headers = performance.now();
    lastBody = await buffer(request);
    arrived = { headers, body: performance.now() };
  };
  const server = createServer(async (request, response) => {
    await receive(request);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    lastBody: () => lastBody,
    time: async (send: () => Promise<void>): Promise<RequestTime> => {
      const began = performance.now();
      await send();
      return { headers: arrived.headers - began, body: arrived.body - began };
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const RESPONSE = { id: 'resp_1', created_at: 1, model: 'fake-1', object: 'response' };
const MESSAGE = { type: 'message', id: 'msg_1', role: 'assistant', content: [] };

/** The shortest answer of each wire. */
const ANSWERS = {
  openai: [
    { type: 'response.created', response: RESPONSE },
    { type: 'response.output_item.added', output_index: 0, item: { ...MESSAGE, status: 'in_progress' } },
    {
      type: 'response.output_text.delta',
      output_index: 0,
      item_id: MESSAGE.id,
      content_index: 0,
      delta: 'Yes.',
    },
    { type: 'response.output_item.done', output_index: 0, item: { ...MESSAGE, status: 'completed' } },
    {
      type: 'response.completed',
      response: { ...RESPONSE, incomplete_details: null, usage: { input_tokens: 1, output_tokens: 1 } },
    },
  ],
  anthropic: [
    {
      type: 'message_start',
      message: { ...MESSAGE, model: 'fake-1', usage: { input_tokens: 1, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Yes.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ],
};

const [wire = '', submits = ''] = process.argv.slice(2);
if (wire !== 'openai' && wire !== 'anthropic') throw new Error(`there is no wire ${wire}`);
console.log(JSON.stringify(await measure(wire, Number(submits))));
