/**
 * Installs the tested releases of the agents once into an ignored folder, like `whetstone agents install`, and makes a
 * folder of their programs for the PATH.
 */
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { drivenAgents, protocolAdapters } from '@whetstone/agents/config';
import { installAgent } from '@whetstone/agents/install';

/** Used instead of the user's cache folder. */
export const cacheFolder = join(import.meta.dirname, '../../.cache');

/** Has each agent's program under the name that users know. */
export const programs = join(cacheFolder, 'whetstone/agents/bin');

/** Before the tests of `npm run test:agents`, once for all of them. */
export async function setup(): Promise<void> {
  await installAgents();
}

/** Resolves with `programs`. */
export async function installAgents(): Promise<string> {
  const { XDG_CACHE_HOME: before } = process.env;
  process.env.XDG_CACHE_HOME = cacheFolder;
  try {
    mkdirSync(programs, { recursive: true });
    for (const agent of [...Object.values(drivenAgents), ...protocolAdapters]) {
      const program = await installAgent(agent);
      // An SDK is a module.
      if ('module' in agent.release.entry) continue;
      const link = join(programs, agent.release.program);
      rmSync(link, { force: true });
      symlinkSync(program, link);
    }
    return programs;
  } finally {
    if (before === undefined) delete process.env.XDG_CACHE_HOME;
    else process.env.XDG_CACHE_HOME = before;
  }
}
