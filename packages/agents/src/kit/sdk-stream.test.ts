import type { StreamEvent } from '@whetstone/events';
import { expect, test } from 'vitest';
import { CodexStream } from '../native/codex-cli/stream.ts';
import { parseNative } from '../native/parse-native.ts';
import { readJsonLines } from './read-json-lines.ts';
import { SdkStream } from './sdk-stream.ts';

const loaded = { type: 'sdk.loaded', sdk: '@openai/codex-sdk', version: '0.163.0' };
const started = [{ type: 'thread.started', thread_id: 'thread-1' }, { type: 'turn.started' }];
const usage = { input_tokens: 10, cached_input_tokens: 0, output_tokens: 5 };
const completed = { type: 'turn.completed', usage };
const failed = { type: 'sdk.failed', message: 'Codex Exec exited with code 1' };
const linesOf = (items: readonly object[]) =>
  Buffer.from(items.map((item) => `${JSON.stringify(item)}\n`).join(''));

function read(...items: object[]) {
  const events: StreamEvent[] = [];
  const mapper = new SdkStream('codex-sdk', 'codex-cli', new CodexStream());
  const reader = readJsonLines(mapper, (event) => events.push(event));
  reader.push(linesOf(items));
  return { events, summary: reader.end() };
}

test('the session is that of the SDK, in the version of its package', () => {
  const { events } = read(loaded, ...started);
  expect(events[0]).toMatchObject({ sessionId: 'thread-1', runtime: 'codex-sdk', runtimeVersion: '0.163.0' });
});

test('an SDK that throws fails its turn, and what it reported before is kept', () => {
  const item = { id: 'a', type: 'agent_message', text: 'I look.' };
  const { summary, events } = read(loaded, ...started, { type: 'item.completed', item }, failed);
  expect(summary).toMatchObject({ ending: 'failed', failure: failed.message, sessionId: 'thread-1' });
  expect(events.map(({ type }) => type)).toEqual(['session.started', 'message', 'error']);
});

test('an SDK that throws what it already reported changes nothing', () => {
  const { summary, events } = read(loaded, ...started, completed, failed);
  expect(summary).toMatchObject({ ending: 'completed', usage: { inputTokens: 10 } });
  expect(events.map(({ type }) => type)).toEqual(['session.started', 'usage']);
  const error = { type: 'turn.failed', error: { message: 'No.' } };
  expect(read(loaded, ...started, error, failed).summary).toMatchObject({ failure: 'No.' });
});

test('a stored log is read as its own kind', async () => {
  const chunks = (...items: object[]) =>
    (async function* () {
      yield linesOf(items);
    })();
  const emit = () => {};
  expect(await parseNative(undefined, chunks(loaded, ...started, completed), { emit })).toMatchObject({
    kind: 'codex-sdk',
    unknown: 0,
  });
  expect(await parseNative(undefined, chunks(...started, completed), { emit })).toMatchObject({
    kind: 'codex-cli',
  });
  await expect(parseNative('codex-sdk', chunks(...started, completed), { emit })).rejects.toMatchObject({
    code: 'agent-kind-wrong',
  });
});
