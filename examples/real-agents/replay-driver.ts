/**
 * Replays a cassette to an agent twice, in this process's network namespace, and prints the results as JSON.
 * Arguments: the kind of agent, the cassette.
 */
import { networkInterfaces } from 'node:os';
import type { DrivenAgentKind } from '@whetstone/agents/config';
import { createGateway } from '@whetstone/gateway';
import { comparableEvents } from './comparable-events.ts';
import { openAgent } from './drive-agent.ts';
import { prompt } from './task.ts';

const [kind, cassette] = process.argv.slice(2) as [DrivenAgentKind, string];

async function replay() {
  await using gateway = await createGateway();
  await using lane = await gateway.open({ owner: kind, mode: { kind: 'replay', cassette } });
  await using session = await openAgent({ kind, lane });
  const { turn, printed } = await session.turn(prompt, { timeoutMs: 60_000 });
  return {
    interfaces: Object.keys(networkInterfaces()),
    exitCode: turn.exit?.exitCode,
    status: turn.status,
    events: comparableEvents(printed, session.pathNames),
    files: await session.files(),
    ledger: lane.ledger,
  };
}

export type Replay = Awaited<ReturnType<typeof replay>>;
process.stdout.write(JSON.stringify([await replay(), await replay()]));
