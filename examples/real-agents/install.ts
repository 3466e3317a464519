/**
 * Installs the released agents that are tested into an ignored folder, once, as `whetstone agents install` does, and
 * makes a folder of programs to put on the PATH.
 */
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { drivenAgents } from '@whetstone/agents/config';
import { installAgent } from '@whetstone/agents/install';

/** In the place of the user's own cache folder. */
export const cacheFolder = join(import.meta.dirname, '../../.cache');

/** Holds a program of each agent, under the name that users know. */
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
    for (const agent of Object.values(drivenAgents)) {
      const link = join(programs, agent.release.program);
      rmSync(link, { force: true });
      symlinkSync(await installAgent(agent), link);
    }
    return programs;
  } finally {
    if (before === undefined) delete process.env.XDG_CACHE_HOME;
    else process.env.XDG_CACHE_HOME = before;
  }
}
