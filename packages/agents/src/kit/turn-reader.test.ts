import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { totalTokens } from '@whetstone/events';
import { describe, expect, test } from 'vitest';
import { agentConfig, startAttempt } from '../__fixtures__/attempt.ts';
import type { Turn } from '../agent.ts';
import type { AgentConfig } from '../config.ts';
import { createAgent } from '../create-agent.ts';

const FIXTURES = join(import.meta.dirname, '../native/codex-cli/__fixtures__/codex-0.169.0');
const THREAD = '01a20115-967b-77a1-80c6-0cee37d3ef1e';
const ROLLOUT = `.codex/sessions/2026/11/22/rollout-2026-11-22T02-28-41-${THREAD}.jsonl`;

const kind = 'codex-cli';
const telemetry = { file: 'codex-events.jsonl', environmentVariable: null };
const command = { kind: 'shell', script: 'codex exec --json -' } as const;

/** Three ways to run the same program. */
const launches: readonly (readonly [string, AgentConfig])[] = [
  ['a driver', agentConfig({ kind, driver: { inherit: [] } })],
  ['a command', agentConfig({ kind, command })],
  [
    'a command with a collector',
    agentConfig({ kind, command, telemetry: { ...telemetry, collector: 'codex-jsonl' } }),
  ],
];

/** Runs a fake Codex with the recorded output of a turn with a sub-agent, with or without the sub-agent's rollout. */
async function play(config: AgentConfig, { keepsRollout }: { keepsRollout: boolean }): Promise<Turn> {
  const stream = join(FIXTURES, 'agents.stream.jsonl');
  const keep = `mkdir -p ~/${ROLLOUT.replace(/\/[^/]*$/, '')}; cp "$WORK/child.jsonl" ~/${ROLLOUT}`;
  const codex = `cat > /dev/null; WORK=$PWD; ${keepsRollout ? keep : ':'}; cat '${stream}'`;
  await using attempt = await startAttempt('do it', {}, { codex });
  const child = await readFile(join(FIXTURES, 'agents-child.transcript.jsonl'), 'utf8');
  // Events of a sub-agent from before the turn do not count, so the rollout gets later times.
  await writeFile(join(attempt.workdir, 'child.jsonl'), child.replaceAll('"2026-', '"2099-'));
  const environment = { PATH: `${join(attempt.folder, 'programs')}:${process.env.PATH}` };
  const agent = await createAgent(config, { environment, hasLanes: true });
  const lane = { baseUrl: 'http://127.0.0.1:9', key: 'key', env: {} };
  return await agent.send({ text: 'do it' }, { ...attempt.context, lane });
}

describe('however Codex is launched', () => {
  test('a turn with a sub-agent has the same events and the same tokens', async () => {
    const turns: Turn[] = [];
    for (const [, config] of launches) turns.push(await play(config, { keepsRollout: true }));
    const [driven, templated, collected] = turns;
    expect(driven?.usage).toMatchObject({ inputTokens: expect.any(Number) });
    expect(totalTokens(driven?.usage ?? { inputTokens: 0, outputTokens: 0 })).toBeGreaterThan(1_056);
    expect(templated?.usage).toEqual(driven?.usage);
    expect(collected?.usage).toEqual(driven?.usage);
    const typesOf = (turn: Turn | undefined) => turn?.events.map(({ type }) => type);
    expect(typesOf(templated)).toEqual(typesOf(driven));
    expect(typesOf(collected)).toEqual(typesOf(driven));
    expect(turns.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
  });

  test.each(launches)(
    'the usage of a turn is unknown if the rollout of its sub-agent is missing: %s',
    async (_, config) => {
      const turn = await play(config, { keepsRollout: false });
      expect(turn.usage).toBeUndefined();
      expect(turn.telemetry?.totalTokens).toBeUndefined();
      expect(turn.telemetry?.evidenceGaps).toContain('usage_missing');
      expect(turn.status).toBe('completed');
    },
  );
});
