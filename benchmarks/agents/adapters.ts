import { join } from 'node:path';
import type { DrivenAgentKind, ProtocolKind } from '@whetstone/agents/config';
import { createGateway } from '@whetstone/gateway';
import { installAgents } from '../../examples/real-agents/install.ts';
import { script } from '../../examples/real-agents/task.ts';
import { median, type Table, tableOf } from '../benchmark.ts';
import { runNode } from '../run-node.ts';
import type { TurnPair, TurnUse } from './turn-program.ts';

const PROGRAM = join(import.meta.dirname, 'turn-program.ts');
/** Agents, two of them over a protocol. */
const AGENTS: readonly (readonly [kind: DrivenAgentKind, protocol?: ProtocolKind])[] = [
  ['codex-cli'],
  ['codex-app-server'],
  ['gemini-cli'],
  ['codex-sdk'],
  ['claude-agent-sdk'],
  ['gemini-cli', 'acp'],
  ['copilot', 'acp'],
];

/** What an adapter adds to its agent: a turn with it, compared with a turn of the bare program or SDK. */
export async function measureAdapters(pairs: number, say: (line: string) => void): Promise<Table> {
  await installAgents();
  await using gateway = await createGateway();
  const kinds = [];
  for (const [kind, protocol] of AGENTS) {
    const subject = protocol ? `${kind} over ${protocol}` : kind;
    say(`${pairs} pairs of turns of ${subject}`);
    await using lane = await gateway.open({ owner: kind, mode: { kind: 'script', script } });
    const args = [kind, pairs, lane.baseUrl, lane.key, ...(protocol ? [protocol] : [])];
    const measured = await runNode<TurnPair[]>(PROGRAM, args);
    const of = (figure: (pair: TurnPair) => number) => median(measured.map(figure));
    const added = (name: keyof TurnUse) => of(({ adapter, bare }) => adapter[name] - bare[name]);
    kinds.push({ subject, of, added });
  }
  return tableOf('Per turn', kinds, [
    ['bare, wall', 's', 2, ({ of }) => of(({ bare }) => bare.wallSeconds)],
    ['adapter, wall', 's', 2, ({ of }) => of(({ adapter }) => adapter.wallSeconds)],
    ['added, wall', 'ms', 0, ({ added }) => added('wallSeconds') * 1000],
    ['bare, CPU', 's', 2, ({ of }) => of(({ bare }) => bare.cpuSeconds)],
    ['adapter, CPU', 's', 2, ({ of }) => of(({ adapter }) => adapter.cpuSeconds)],
    ['added, CPU', 'ms', 0, ({ added }) => added('cpuSeconds') * 1000],
  ]);
}
