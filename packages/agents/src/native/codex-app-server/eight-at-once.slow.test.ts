import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { contractRows } from '../../contract/__fixtures__/rows.ts';
import type { SceneName } from '../../contract/__fixtures__/scene.ts';
import { openStage } from '../../contract/__fixtures__/stage.ts';

test('a crash, a hang and a flood among eight cases at once harm no other case', async () => {
  const row = contractRows.find(({ name }) => name === 'codex-app-server');
  if (!row) throw new Error('There is no row of codex-app-server.');
  await using stage = await openStage(row);
  // One agent, as a run has it.
  const agent = await row.create({ user: stage.user });
  const scenes: SceneName[] = [
    ...['task', 'task', 'crash before its last word', 'task'],
    ...['flood', 'task', 'hang', 'task'],
  ] as SceneName[];
  const plays = await Promise.all(
    scenes.map((scene) =>
      stage.play(scene, { agent, context: { timeoutMs: scene === 'hang' ? 5_000 : 110_000 } }),
    ),
  );
  expect(plays.map(({ turn }) => turn.status)).toEqual([
    ...['completed', 'completed', 'failed', 'completed'],
    ...['completed', 'completed', 'failed', 'completed'],
  ]);
  const sessions = plays.map(({ attempt }) => attempt.context.session.id);
  expect(new Set(sessions).size).toBe(8);
  for (const { attempt, token, turn } of plays) {
    const own =
      JSON.stringify(turn.events) +
      (await readFile(attempt.context.files.stderrFile, 'utf8').catch(() => ''));
    for (const other of plays) if (other.token !== token) expect(own.includes(other.token)).toBe(false);
  }
}, 180_000);
