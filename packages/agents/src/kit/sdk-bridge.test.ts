import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { replyText } from '@whetstone/events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAgent } from '../create-agent.ts';
import { openSession } from '../drive/open-session.ts';

/** An SDK that says in which process it runs, and throws when it is told to. */
const SDK = `const me = crypto.randomUUID();
const thread = (id) => ({
  async runStreamed([{ text }]) {
    return { events: (async function* () {
      yield { type: 'thread.started', thread_id: id };
      if (text === 'Throw.') throw new Error('It broke.');
      console.log('not a message');
      yield { type: 'item.completed', item: { id: 'a', type: 'agent_message', text: me } };
      yield { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } };
    })() };
  },
});
export class Codex {
  startThread() { return thread('thread-1'); }
  resumeThread(id) { return thread(id); }
}
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bridge-'));
  const modules = join(folder, 'cache/whetstone/agents/codex-sdk/9.9.9/node_modules/@openai/codex-sdk');
  await mkdir(join(modules, 'dist'), { recursive: true });
  await writeFile(
    join(modules, 'package.json'),
    '{"name":"@openai/codex-sdk","version":"9.9.9","type":"module"}',
  );
  await writeFile(join(modules, 'dist/index.js'), SDK);
  await mkdir(join(folder, 'work'));
});
afterAll(() => rm(folder, { recursive: true }));

async function play(reuse_process: boolean, prompts: readonly string[]) {
  const environment = {
    PATH: dirname(process.execPath),
    XDG_CACHE_HOME: join(folder, 'cache'),
    HOME: folder,
  };
  const agent = await createAgent(
    { kind: 'codex-sdk', options: { reuse_process } },
    { environment, hasLanes: true },
  );
  const lane = { baseUrl: 'http://127.0.0.1:9', key: 'k', env: {} };
  await using session = await openSession(agent, { folder: join(folder, 'work'), lane, timeoutMs: 20_000 });
  const turns = [];
  for (const prompt of prompts) turns.push(await session.send(prompt));
  return turns.map(({ status, events, exit }) => ({
    status,
    said: replyText(events),
    message: exit?.message,
  }));
}

test('each turn has a process of its own, unless it is to stay', async () => {
  for (const stays of [false, true]) {
    const [first, second] = await play(stays, ['One.', 'Two.']);
    expect([first?.status, second?.status]).toEqual(['completed', 'completed']);
    expect(first?.said).toMatch(/^[0-9a-f-]{36}$/);
    expect(first?.said === second?.said).toBe(stays);
  }
});

test('a turn that the SDK broke does not break the next one', async () => {
  const [broken, next] = await play(true, ['Throw.', 'Two.']);
  expect(broken).toMatchObject({ status: 'failed', message: 'It broke.' });
  expect(next?.status).toBe('completed');
});
