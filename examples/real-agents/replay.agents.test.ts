import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type DrivenAgentKind, drivenAgentKinds, drivenAgents } from '@whetstone/agents/config';
import type { JsonObject } from '@whetstone/events';
import { createGateway } from '@whetstone/gateway';
import { beforeEach, expect, test } from 'vitest';
import { comparableEvents } from './comparable-events.ts';
import { openAgent } from './drive-agent.ts';
import { openProvider } from './provider.ts';
import type { Replay } from './replay-driver.ts';
import { finalFiles, prompt, replies } from './task.ts';

// A cassette contains the agent's own prompt, so it is not kept.
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'replay-'));
  return () => rm(folder, { recursive: true });
});

/** Time zones that never have the same day. */
const [today, yesterday] = ['Etc/GMT-14', 'Etc/GMT+12'];

test.each(drivenAgentKinds)(
  '%s replays offline and on another day, twice the same as it was recorded',
  async (kind) => {
    const cassette = join(folder, 'cassette.jsonl');
    const recorded = await record(kind, cassette);
    expect(recorded.files).toMatchObject(finalFiles);
    for (const said of ['sh greet.sh', 'echo good day', 'It says good day now.']) {
      // Codex reports that it changed a file, but not how.
      if (kind.startsWith('codex') && said.startsWith('echo')) continue;
      expect(JSON.stringify(recorded.events)).toContain(said);
    }

    const replays = await replayOffline(kind, cassette);
    expect(replays).toHaveLength(2);
    for (const replay of replays) {
      expect(replay.interfaces).toEqual(['lo']);
      expect(replay.ledger.map(({ flags, error }) => error ?? flags)).toEqual(
        Array.from({ length: replies }, () => ['replayed']),
      );
      expect(replay).toMatchObject({ exitCode: 0, status: 'completed', files: recorded.files });
      expect(replay.events).toEqual(recorded.events);
    }
  },
);

/** Records the task from a gateway that plays the provider. */
async function record(
  kind: DrivenAgentKind,
  cassette: string,
): Promise<{ events: JsonObject[]; files: Record<string, string> }> {
  await using provider = await openProvider(drivenAgents[kind].release.wire);
  await using gateway = await createGateway();
  const { upstreams } = provider;
  await using lane = await gateway.open({ owner: kind, mode: { kind: 'record', cassette, upstreams } });
  await using session = await openAgent({ kind, lane, extra: { env: { TZ: yesterday } } });
  const { printed } = await session.turn(prompt, { timeoutMs: 60_000 });
  expect(lane.ledger.flatMap(({ flags }) => flags)).toEqual([]);
  return { events: comparableEvents(printed, session.pathNames), files: await session.files() };
}

/** Gateway and agent run in a network namespace that only has loopback. */
async function replayOffline(kind: DrivenAgentKind, cassette: string): Promise<Replay[]> {
  const driver = join(import.meta.dirname, 'replay-driver.ts');
  const command = [process.execPath, driver, kind, cassette];
  const { stdout } = await promisify(execFile)(
    'unshare',
    ['--map-root-user', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...command],
    { maxBuffer: 64 * 1024 * 1024, env: { ...process.env, TZ: today } },
  );
  return JSON.parse(stdout);
}
