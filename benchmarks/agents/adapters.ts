import { join } from 'node:path';
import type { DrivenAgentKind, ProtocolKind } from '@whetstone/agents/config';
import { createGateway } from '@whetstone/gateway';
import { installAgents } from '../../examples/real-agents/install.ts';
import { type Aim, median, quantile, type Table, tableOf } from '../benchmark.ts';
import { runNode } from '../run-node.ts';
import type { TurnPair, Use } from './turn-program.ts';
import { script } from './turn-task.ts';

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

/** What an adapter adds to its agent: a turn with it, compared with a turn of the bare program or SDK in such a sandbox. */
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
    const bare = (name: keyof Use) => median(measured.map((pair) => pair.bare.turn[name]));
    /** Milliseconds. */
    const added = (name: keyof Use) =>
      measured.map(({ adapter, bare: own }) => (adapter.turn[name] - own.turn[name]) * 1000);
    const withSandbox = (name: keyof Use) =>
      measured.map(
        ({ adapter, bare: own }) => (adapter.turn[name] + adapter.sandbox[name] - own.turn[name]) * 1000,
      );
    const share = (values: readonly number[], name: keyof Use) => median(values) / bare(name) / 10;
    kinds.push({
      subject,
      isCodex: kind.startsWith('codex'),
      pairs: measured.length,
      bare,
      added,
      withSandbox,
      share,
    });
  }
  return {
    table: tableOf('Per turn', kinds, [
      ['pairs', '', 0, ({ pairs }) => pairs],
      ...(['wallSeconds', 'cpuSeconds'] as const).flatMap((name) => columnsOf(name)),
    ]),
    aims: kinds
      .filter(({ isCodex }) => isCodex)
      .flatMap(({ subject, added, share }) =>
        (['wallSeconds', 'cpuSeconds'] as const).map((name) => ({
          what: `${NAMES[name]} that the adapter adds to a turn of ${subject}`,
          measured: share(added(name), name),
          ...{ below: 5, unit: '%', digits: 1 },
        })),
      ),
  };
}

const NAMES = { wallSeconds: 'wall', cpuSeconds: 'CPU' };

type Kind = {
  bare: (name: keyof Use) => number;
  added: (name: keyof Use) => number[];
  withSandbox: (name: keyof Use) => number[];
  share: (values: readonly number[], name: keyof Use) => number;
};

const columnsOf = (name: keyof Use) =>
  [
    [`bare, ${NAMES[name]}`, 's', 2, ({ bare }: Kind) => bare(name)],
    [`added, ${NAMES[name]}`, 'ms', 0, ({ added }: Kind) => median(added(name))],
    ['half of the pairs', 'ms', 0, ({ added }: Kind) => middleHalf(added(name))],
    ['added', '%', 1, ({ added, share }: Kind) => share(added(name), name)],
    ['added with its sandbox', '%', 1, ({ withSandbox, share }: Kind) => share(withSandbox(name), name)],
  ] as const;

const middleHalf = (values: readonly number[]): string =>
  `${quantile(values, 0.25).toFixed(0)} to ${quantile(values, 0.75).toFixed(0)}`;
