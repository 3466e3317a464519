/**
 * Prints as JSON what many threads on one app-server use, and the second turn of a session whose server stays, against
 * one whose server starts anew. Arguments: number of threads, number of pairs, base URL and key of a lane.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createAgent, openSession } from '@whetstone/agents';
import { KNOWN_MODELS } from '../../examples/real-agents/drive-agent.ts';
import { cacheFolder, programs } from '../../examples/real-agents/install.ts';
import { cpuSecondsOf, memoryOf } from '../process-use.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openBareServer } from './bare-app-server.ts';

export type ServerUse = {
  threads: { wallSeconds: number; cpuSeconds: number; firstBytes: number; peakBytes: number };
  pairs: { fresh: number; kept: number }[];
};

const [threads, pairs, baseUrl = '', key = ''] = process.argv.slice(2);
using folder = temporaryFolder();
const lane = { baseUrl, key };
const used: ServerUse = { threads: await manyThreads(Number(threads)), pairs: [] };
for (let pair = 0; pair < Number(pairs); pair++) {
  const fresh = await secondTurn(false);
  used.pairs.push({ fresh, kept: await secondTurn(true) });
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
async function secondTurn(isKept: boolean): Promise<number> {
  const agent = await createAgent(
    {
      kind: 'codex-app-server',
      model: KNOWN_MODELS['codex-app-server'],
      options: { reuse_server: isKept },
    },
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
