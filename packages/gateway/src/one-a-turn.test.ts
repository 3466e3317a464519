import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { oneATurn } from './one-a-turn.ts';

test('work that comes at once is done one piece per turn of the event loop, in the order in which it came', async () => {
  const turns: number[] = [];
  let turn = 0;
  const isOver = (async () => {
    while (turns.length < 4) {
      await nextTurn();
      turn += 1;
    }
  })();
  const pieces = [0, 1, 2, 3].map(async (piece) => {
    await oneATurn();
    expect(turns.push(turn), 'its place').toBe(piece + 1);
  });
  await Promise.all([...pieces, isOver]);
  expect(new Set(turns).size, String(turns)).toBe(4);
});

test('work that finds none waits for nothing', async () => {
  await nextTurn();
  expect(oneATurn()).toBeUndefined();
  await nextTurn();
  expect(oneATurn()).toBeUndefined();
});
