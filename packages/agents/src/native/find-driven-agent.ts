import { WhetstoneError } from '@whetstone/errors';
import { didYouMean } from '@whetstone/errors/did-you-mean';
import { drivenAgents, type KnownDrivenAgent, protocolAdapters } from './native-agents.ts';

/**
 * Finds the agent that a user typed: its kind or another name of it, its program, or its kind without `-cli`.
 * @throws WhetstoneError `agent-kind-unknown`
 */
export function findDrivenAgent(name: string): KnownDrivenAgent {
  const known = Object.values(drivenAgents);
  const found = known.find(
    ({ kind, aliases, release }) =>
      kind === name || aliases?.includes(name) || release.program === name || kind === `${name}-cli`,
  );
  const adapter = protocolAdapters.find(({ release }) => release.program === name);
  if (found || adapter) return (found ?? adapter) as KnownDrivenAgent;
  const kinds = known.map(({ kind }) => kind);
  const meant = didYouMean(name, [
    ...kinds,
    ...[...known, ...protocolAdapters].map(({ release }) => release.program),
  ]);
  throw new WhetstoneError('agent-kind-unknown', `There is no kind of agent "${name}".`, {
    hint: `${meant === undefined ? '' : `did you mean ${meant}? `}known: ${kinds.join(', ')}`,
  });
}
