import { expect, test } from 'vitest';
import { defineAgent } from '../agent.ts';
import { createAgent } from '../create-agent.ts';
import { driveAgent } from '../drive/drive-agent.ts';
import { type InputItem, readPrompt } from './input-items.ts';

const ITEMS: InputItem[] = [
  { type: 'text', text: 'Review this.' },
  { type: 'file', path: 'src/a.ts' },
  { type: 'skill', name: 'reviewing' },
  { type: 'mention', name: 'tickets', path: 'app://tickets' },
  { type: 'diff', diff: '-a\n+b\n' },
];

test('a JSON array of items is read, and has the same in words', () => {
  expect(readPrompt(JSON.stringify(ITEMS))).toEqual({
    items: ITEMS,
    text: 'Review this.\n\nFile: src/a.ts\n\nUse the skill reviewing.\n\n@tickets\n\n```diff\n-a\n+b\n```',
  });
});

test.each([
  'Fix it.',
  '[x] not JSON',
  '[]',
  '[1]',
  '{"type":"text","text":"x"}',
  '[{"type":"text"}]',
  '[{"type":"video","url":"x"}]',
  '[{"type":"file","path":"a","mode":"rw"}]',
  '["text"]',
])('%j is text as it stands', (prompt) => {
  expect(readPrompt(prompt)).toEqual({ text: prompt });
});

test('an adapter gets the items, and an agent without images refuses one', async () => {
  const image = JSON.stringify([...ITEMS, { type: 'image', path: 'a.png' }]);
  const received: unknown[] = [];
  const adapter = defineAgent({
    name: 'adapter',
    async send(input) {
      received.push(input.items?.map(({ type }) => type));
      return { events: [], status: 'completed' };
    },
  });
  await driveAgent(adapter, { prompt: image });
  expect(received).toEqual([['text', 'file', 'skill', 'mention', 'diff', 'image']]);
  const command = await createAgent({ command: 'true' });
  await expect(driveAgent(command, { prompt: image })).rejects.toMatchObject({ code: 'input-unsupported' });
});
