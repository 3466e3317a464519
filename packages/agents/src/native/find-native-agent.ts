import { didYouMean, WhetstoneError } from '@whetstone/errors';
import type { CliAgent } from './native-agent.ts';
import { cliAgents } from './native-agents.ts';

/**
 * The agent of a name that a user typed: its kind, its program, or its kind without `-cli`.
 * @throws WhetstoneError `agent-kind-unknown`
 */
export function findCliAgent(name: string): CliAgent {
  const known = Object.values(cliAgents);
  const found = known.find(
    ({ kind, program }) => kind === name || program === name || kind === `${name}-cli`,
  );
  if (found) return found;
  const kinds = known.map(({ kind }) => kind);
  const meant = didYouMean(name, [...kinds, ...known.map(({ program }) => program)]);
  throw new WhetstoneError('agent-kind-unknown', `There is no kind of agent "${name}".`, {
    hint: `${meant === undefined ? '' : `did you mean ${meant}? `}known: ${kinds.join(', ')}`,
    exitCode: 2,
  });
}
