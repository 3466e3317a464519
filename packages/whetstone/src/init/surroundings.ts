import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { drivenAgents } from '@whetstone/agents/config';
import { type AgentHere, agentsHere } from '@whetstone/agents/install';
import { findPreparations, type Preparation } from './find-preparations.ts';
import { findTestCommands, type TestCommand } from './test-commands.ts';

/** What `init` finds before it writes anything. */
export type Surroundings = {
  /** The root of the repository. */
  repository: string;
  /** The released agents that can be started here; those that can also sign in come first. */
  agents: AgentHere[];
  tests: TestCommand[];
  /** How its packages are installed, the likeliest first. */
  preparations: Preparation[];
  /** Instruction files at the root of the repository. A link to another of them is left out. */
  instructions: string[];
};

export async function lookAround(repository: string, environment: NodeJS.ProcessEnv): Promise<Surroundings> {
  const here = await agentsHere(environment);
  return {
    repository,
    agents: here
      // A program that is led as a dialogue is also an agent of its own, or a part of the user's own code.
      .filter(({ agent }) => agent.launch.dialogue === undefined)
      .filter(({ onPath, installed }) => onPath !== null || installed.length > 0)
      .sort((a, b) => Number(canSignIn(b)) - Number(canSignIn(a))),
    tests: findTestCommands(repository),
    preparations: findPreparations(repository),
    instructions: findInstructions(repository),
  };
}

export const canSignIn = ({ key, login }: AgentHere): boolean => key.isSet || login !== null;

function findInstructions(repository: string): string[] {
  const names = new Set(Object.values(drivenAgents).map(({ facts }) => facts.instructions));
  const files = new Map<string, string>();
  // AGENTS.md first: where one file is a link to the other, that is usually the target.
  for (const name of [...names].sort()) {
    const path = join(repository, name);
    if (!existsSync(path)) continue;
    const target = realpathSync(path);
    if (!files.has(target)) files.set(target, name);
  }
  return [...files.values()];
}
