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

describe('what a command prints', () => {
  const NATIVE = join(import.meta.dirname, '../native');
  const recorded = {
    claude: `${NATIVE}/claude-code/__fixtures__/claude-code-2.1.330`,
    gemini: `${NATIVE}/gemini-cli/__fixtures__/gemini-0.61.0`,
    qwen: `${NATIVE}/qwen-code/__fixtures__/qwen-code-0.24.4`,
  };
  const turnOf = async (config: Partial<AgentConfig>, script: string): Promise<Turn> => {
    await using attempt = await startAttempt('do it');
    const agent = await createAgent(agentConfig({ ...config, command: { kind: 'shell', script } }), {
      environment: {},
      hasLanes: true,
    });
    return await agent.send({ text: 'do it' }, attempt.context);
  };

  test.each([
    [
      'a byte order mark',
      'claude-code',
      `printf '\\357\\273\\277'; cat ${recorded.claude}/task.stream.jsonl`,
      [],
    ],
    ['a list', 'qwen-code', `cat ${recorded.qwen}/json.stream.jsonl`, []],
    ['an object over several lines', 'gemini-cli', `echo; cat ${recorded.gemini}/json.stream.jsonl`, []],
    ['only the result', 'claude-code', `cat ${recorded.claude}/json.stream.jsonl`, ['tool_calls_missing']],
  ] as const)('is read with %s: %s', async (_, kindOf, script, gaps) => {
    const { status, usage, telemetry: found } = await turnOf({ kind: kindOf }, script);
    expect(status).toBe('completed');
    expect(usage?.inputTokens).toBeGreaterThan(30_000);
    expect(found?.evidenceGaps).toEqual(gaps);
    if (kindOf === 'gemini-cli') expect(found).toMatchObject({ toolCallCount: 2 });
  });

  test.each([
    ['[1] is not JSON Lines', 'completed'],
    ['[', 'completed'],
  ] as const)('is text if it only begins like JSON: %s', async (text, status) => {
    const turn = await turnOf({ kind: 'qwen-code' }, `echo '${text}'`);
    expect(turn).toMatchObject({ status, telemetry: { evidenceGaps: ['tool_calls_missing'] } });
  });

  test.each<[string, Partial<AgentConfig>]>([
    ['its kind', { kind: 'codex-cli' }],
    ['its collector', { kind: 'custom', telemetry: { ...telemetry, collector: 'codex-jsonl' } }],
  ])('is an error if it is not what %s says', async (_, config) => {
    await expect(turnOf(config, `cat ${recorded.claude}/task.stream.jsonl`)).rejects.toMatchObject({
      code: 'agent-kind-wrong',
      message: 'This is not the output of codex-cli. It looks like that of claude-code.',
    });
  });
});
