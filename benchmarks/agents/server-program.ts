/**
 * Prints as JSON what many threads on one app-server use, and the second turn of sessions whose server or process stays,
 * against sessions in which it starts anew. Arguments: number of threads, number of pairs, base URL and key of a lane.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createAgent, openSession } from '@whetstone/agents';
import type { DrivenAgentKind } from '@whetstone/agents/config';
import { KNOWN_MODELS } from '../../examples/real-agents/drive-agent.ts';
import { cacheFolder, programs } from '../../examples/real-agents/install.ts';
import { cpuSecondsOf, memoryOf } from '../process-use.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openBareServer } from './bare-app-server.ts';

export type ServerUse = {
  threads: { wallSeconds: number; cpuSeconds: number; firstBytes: number; peakBytes: number };
  /** Seconds of wall clock. */
  pooled: { kind: DrivenAgentKind; pairs: { fresh: number; kept: number }[] }[];
};

const [threads, pairs, baseUrl = '', key = ''] = process.argv.slice(2);
using folder = temporaryFolder();
const lane = { baseUrl, key };
/** What keeps the server or the process of an agent for the turns of a session. */
const POOLED: readonly (readonly [kind: DrivenAgentKind, option: string])[] = [
  ['codex-app-server', 'reuse_server'],
  ['codex-sdk', 'reuse_process'],
  ['claude-agent-sdk', 'reuse_process'],
  ['opencode-sdk', 'reuse_process'],
];
const used: ServerUse = { threads: await manyThreads(Number(threads)), pooled: [] };
for (const [kind, option] of POOLED) {
  const measured = [];
  for (let pair = 0; pair < Number(pairs); pair++) {
    const fresh = await secondTurn(kind, { [option]: false });
    measured.push({ fresh, kept: await secondTurn(kind, { [option]: true }) });
  }
  used.pooled.push({ kind, pairs: measured });
}
console.log(JSON.stringify(used));

/** All at once, each with one answer, after a first one alone. */
async function manyThreads(count: number): Promise<ServerUse['threads']> {
  const server = await openBareServer(join(folder.path, 'server/home'), lane);
  const turn = (name: string) => {
    const workspace = join(folder.path, name);
    mkdirSync(workspace, { recursive: true });
    return server.turn('Say hello.', workspace);
  };
  await turn('first');
  const firstBytes = memoryOf(server.pid).now;
  const [began, before] = [performance.now(), cpuSecondsOf(server.pid)];
  await Promise.all(Array.from({ length: count }, (_, index) => turn(`thread-${index}`)));
  const wallSeconds = (performance.now() - began) / 1000;
  const cpuSeconds = cpuSecondsOf(server.pid) - before;
  const peakBytes = memoryOf(server.pid).peak;
  await server.close();
  return { wallSeconds, cpuSeconds, firstBytes, peakBytes };
}

/** Seconds of wall clock. */
async function secondTurn(kind: DrivenAgentKind, options: Record<string, boolean>): Promise<number> {
  const agent = await createAgent(
    { kind, model: KNOWN_MODELS[kind], options },
    {
      environment: { ...process.env, XDG_CACHE_HOME: cacheFolder, PATH: `${programs}:${process.env.PATH}` },
      hasLanes: true,
    },
  );
  await using session = await openSession(agent, { lane: { ...lane, env: {} } });
  await session.send({ text: 'Say hello.' }, { timeoutMs: 60_000 });
  const began = performance.now();
  const { status } = await session.send({ text: 'Say hello again.' }, { timeoutMs: 60_000 });
  if (status !== 'completed') throw new Error('The second turn did not complete.');
  return (performance.now() - began) / 1000;
}
