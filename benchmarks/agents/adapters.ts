import { join } from 'node:path';
import type { DrivenAgentKind, ProtocolKind } from '@whetstone/agents/config';
import { createGateway } from '@whetstone/gateway';
import { installAgents } from '../../examples/real-agents/install.ts';
import { script } from '../../examples/real-agents/task.ts';
import { type Aim, median, quantile, type Table, tableOf } from '../benchmark.ts';
import { runNode } from '../run-node.ts';
import type { TurnPair, TurnUse } from './turn-program.ts';

const PROGRAM = join(import.meta.dirname, 'turn-program.ts');
/** Agents, two of them over a protocol. */
const AGENTS: readonly (readonly [kind: DrivenAgentKind, protocol?: ProtocolKind])[] = [
  ['codex-cli'],
  ['codex-app-server'],
  ['codex-sdk'],
  ['claude-agent-sdk'],
  ['opencode-sdk'],
  ['gemini-cli', 'acp'],
  ['copilot', 'acp'],
];

/** The most pairs per agent, and the seconds that they may take. */
export type Pairs = { most: number; seconds: number };

/** What an adapter adds to its agent: a turn with it, compared with a turn of the bare program or SDK. */
export async function measureAdapters(
  { most, seconds }: Pairs,
  say: (line: string) => void,
): Promise<{ table: Table; aims: Aim[] }> {
  await installAgents();
  await using gateway = await createGateway();
  const kinds = [];
  for (const [kind, protocol] of AGENTS) {
    const subject = protocol ? `${kind} over ${protocol}` : kind;
    say(`turns of ${subject}`);
    await using lane = await gateway.open({ owner: kind, mode: { kind: 'script', script } });
    const args = [kind, most, seconds, lane.baseUrl, lane.key, ...(protocol ? [protocol] : [])];
    const measured = await runNode<TurnPair[]>(PROGRAM, args);
    const bare = (name: keyof TurnUse) => median(measured.map((pair) => pair.bare[name]));
    const added = (name: keyof TurnUse) =>
      measured.map((pair) => (pair.adapter[name] - pair.bare[name]) * 1000);
    kinds.push({ subject, isCodex: kind.startsWith('codex'), pairs: measured.length, bare, added });
  }
  return {
    table: tableOf('Per turn', kinds, [
      ['pairs', '', 0, ({ pairs }) => pairs],
      ['bare, wall', 's', 2, ({ bare }) => bare('wallSeconds')],
      ['added, wall', 'ms', 0, ({ added }) => median(added('wallSeconds'))],
      ['half of the pairs', 'ms', 0, ({ added }) => middleHalf(added('wallSeconds'))],
      ['bare, CPU', 's', 2, ({ bare }) => bare('cpuSeconds')],
      ['added, CPU', 'ms', 0, ({ added }) => median(added('cpuSeconds'))],
      ['half of the pairs', 'ms', 0, ({ added }) => middleHalf(added('cpuSeconds'))],
    ]),
    aims: kinds
      .filter(({ isCodex }) => isCodex)
      .flatMap(({ subject, bare, added }) =>
        (['wallSeconds', 'cpuSeconds'] as const).map((name) => ({
          what: `${name === 'cpuSeconds' ? 'CPU' : 'wall'} that the adapter adds to a turn of ${subject}`,
          measured: median(added(name)) / bare(name) / 10,
          ...{ below: 5, unit: '%', digits: 1 },
        })),
      ),
  };
}

const middleHalf = (values: readonly number[]): string =>
  `${quantile(values, 0.25).toFixed(0)} to ${quantile(values, 0.75).toFixed(0)}`;
