import { addUsage, deriveAgentMetadata, emptyUsage, type JsonObject, totalTokens } from '@whetstone/events';
import {
  createGateway,
  defineScript,
  type LedgerLine,
  type ScriptRequest,
  type ScriptStep,
} from '@whetstone/gateway';
import { beforeAll, describe, expect, test } from 'vitest';
import { type AgentTurn, openAgent } from './drive-agent.ts';

const task = 'CHILD: say what README.md says.';
const native = (name: string, input: JsonObject): ScriptStep => ({
  calls: [{ tool: 'native', name, input }],
});
const about = { description: 'Look at it', prompt: task };
const general = { ...about, subagent_type: 'general-purpose', run_in_background: false };

/** How the model of each agent that has sub-agents delegates, and waits where that is a call of its own. pi has none. */
const codex = ({ toolResults }: ScriptRequest) => [
  native('spawn_agent', { message: task }),
  native('wait_agent', { targets: [spawnedIn(toolResults[0]?.output)], timeout_ms: 20_000 }),
];
const delegations = {
  'codex-cli': codex,
  'codex-app-server': codex,
  'claude-code': () => [native('Agent', general)],
  'gemini-cli': () => [native('invoke_agent', { agent_name: 'generalist', prompt: task })],
  'qwen-code': () => [native('agent', general)],
  'opencode-cli': () => [native('task', { ...about, subagent_type: 'general' })],
  copilot: () => [native('task', { ...about, name: 'look', agent_type: 'general-purpose', mode: 'sync' })],
} satisfies Record<string, (request: ScriptRequest) => ScriptStep[]>;

type Kind = keyof typeof delegations;
const kinds = Object.keys(delegations) as Kind[];
const spawnedIn = (output = ''): string => /"agent_id":"([^"]+)"/.exec(output)?.[1] ?? '';

const script = (kind: Kind) =>
  defineScript({
    name: 'delegates',
    play(request) {
      const { userText, toolResults, tools } = request;
      if (!userText.includes(task)) {
        return delegations[kind](request)[toolResults.length] ?? { text: 'It greets, says the other one.' };
      }
      if (toolResults.length === 0) return { calls: [{ tool: 'read', path: 'README.md' }] };
      // Gemini CLI's sub-agents end with a call.
      const endsByCall = tools.some(({ name }) => name === 'complete_task');
      return endsByCall
        ? native('complete_task', { result: { response: 'It greets.' } })
        : { text: 'It greets.' };
    },
  });

/** Models with which the agent offers sub-agents, if its default model is not one of them. */
const models: Partial<Record<Kind, string>> = {
  'codex-cli': 'a-model-that-it-does-not-know',
  'codex-app-server': 'a-model-that-it-does-not-know',
};

type Played = AgentTurn & { calls: LedgerLine[] };

/** Two turns of one session, in each of which the agent delegates once. */
async function play(kind: Kind): Promise<Played[]> {
  await using gateway = await createGateway();
  await using lane = await gateway.open({ owner: kind, mode: { kind: 'script', script: script(kind) } });
  const model = models[kind];
  await using session = await openAgent({ kind, lane, ...(model && { model }) });
  const turns: Played[] = [];
  for (const prompt of ['Ask another.', 'Ask once more.']) {
    const from = lane.ledger.length;
    const played = await session.turn(prompt, { timeoutMs: 90_000 });
    turns.push({ ...played, calls: lane.ledger.slice(from) });
  }
  return turns;
}

const sessions = new Map<Kind, Played[]>();
beforeAll(async () => {
  const queue = kinds.values();
  await Promise.all(
    Array.from({ length: 2 }, async () => {
      for (const kind of queue) sessions.set(kind, await play(kind));
    }),
  );
});

describe.each(kinds)('%s', (kind) => {
  const turns = () => sessions.get(kind) ?? [];

  test('a delegation is one tool call and one sub-agent, and it ends', () => {
    expect(turns()).toHaveLength(2);
    for (const { turn } of turns()) {
      expect(turn.status).toBe('completed');
      const [begun, ...more] = turn.events.filter(({ type }) => type === 'subagent.called');
      expect(more).toEqual([]);
      const callId = begun && 'callId' in begun ? begun.callId : '';
      const own = turn.events.filter((event) => 'callId' in event && event.callId === callId);
      expect(own.map(({ type }) => type).sort()).toEqual(
        ['action.called', 'action.result', 'subagent.called', 'subagent.completed'].sort(),
      );
      const { tools } = deriveAgentMetadata(turn.events);
      expect(tools.find((tool) => tool.callId === callId)).toMatchObject({ status: 'completed' });
      expect(JSON.stringify(tools.find((tool) => tool.callId === callId)?.input)).toContain(task);
    }
  });

  test('what the sub-agent does belongs to its call', () => {
    for (const { turn } of turns()) {
      const begun = turn.events.find((event) => event.type === 'subagent.called');
      const calls = turn.events
        .filter((event) => event.type === 'action.called')
        .filter(({ parentCallId }) => parentCallId !== undefined);
      expect(calls.map(({ name }) => name)).toContainEqual(expect.stringMatching(/read|view|command/i));
      expect(new Set(calls.map(({ parentCallId }) => parentCallId))).toEqual(new Set([begun?.callId]));
    }
  });

  test('the usage of a turn is what went over the wire, that of the sub-agent once', () => {
    for (const { turn, calls } of turns()) {
      const wire = calls.flatMap(({ usage }) => usage ?? []).reduce(addUsage, emptyUsage());
      expect(calls.length).toBeGreaterThanOrEqual(4);
      expect(totalTokens(turn.usage ?? emptyUsage())).toBe(totalTokens(wire));
      expect(deriveAgentMetadata(turn.events).usage).toEqual(turn.usage);
    }
  });
});
