import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** An SDK that has read three messages, the last two with a call each, when it asks about the second call. */
const SDK = `export async function* query({ options }) {
  const calls = ['call-1', 'call-2'];
  const [{ hooks: [beforeTool] }] = options.hooks.PreToolUse;
  const about = { tool_name: 'Bash', tool_input: { command: 'true' }, tool_use_id: 'call-2' };
  const asked = beforeTool(about);
  yield { type: 'assistant', text: 'x'.repeat(200_000) };
  for (const id of calls) yield { type: 'assistant', id };
  yield { type: 'result', answer: await asked };
}
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bridge-'));
  await writeFile(join(folder, 'sdk.mjs'), SDK);
});
afterAll(() => rm(folder, { recursive: true }));

test('a question comes after all messages that the SDK had read before it', async () => {
  const bridge = spawn(process.execPath, [join(import.meta.dirname, 'bridge.ts'), join(folder, 'sdk.mjs')]);
  const send = (message: object): void => void bridge.stdin.write(`${JSON.stringify(message)}\n`);
  send({ items: [{ type: 'text', text: 'Go.' }], options: {} });
  const order: unknown[] = [];
  for await (const line of createInterface(bridge.stdout)) {
    const message = JSON.parse(line);
    order.push(message.type === 'assistant' ? (message.id ?? 'text') : message.type);
    if (message.type === 'sdk.ask') send({ answer: message.id, behavior: 'allow' });
  }
  expect(order).toEqual(['sdk.loaded', 'text', 'call-1', 'call-2', 'sdk.ask', 'result']);
});
