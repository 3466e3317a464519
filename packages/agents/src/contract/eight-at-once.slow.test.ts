import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { contractRows } from './__fixtures__/rows.ts';
import type { SceneName } from './__fixtures__/scene.ts';
import { openStage } from './__fixtures__/stage.ts';

// A server, the bridge of an SDK, and a protocol: each leads its program in a dialogue.
const rows = contractRows.filter(({ name }) =>
  ['codex-app-server', 'claude-agent-sdk', 'acp'].includes(name),
);

test.concurrent.each(rows)(
  '$name: a crash, a hang and a flood among eight cases harm no other',
  async (row) => {
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
  },
  180_000,
);
