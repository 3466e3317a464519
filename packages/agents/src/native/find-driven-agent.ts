import { WhetstoneError } from '@whetstone/errors';
import { didYouMean } from '@whetstone/errors/did-you-mean';
import {
  agentKinds,
  drivenAgents,
  type KnownDrivenAgent,
  kindNamed,
  protocolAdapters,
  protocolAgentsOf,
} from './native-agents.ts';

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
  const adapters = protocolAdapters.map(({ release }) => release.program);
  const all = [...kinds, ...adapters].join(', ');
  const kind = kindNamed(name);
  const speaking = protocolAgentsOf(kind);
  if (speaking) {
    const agents = Object.values(speaking).map(({ release }) => release.installedAs ?? release.program);
    throw new WhetstoneError('agent-kind-unknown', `${kind} is a protocol, and no program of its own.`, {
      hint: `name the agent that speaks it: ${agents.join(', ')}`,
    });
  }
  if ((agentKinds as readonly string[]).includes(kind)) {
    throw new WhetstoneError('agent-kind-unknown', `Whetstone does not start an agent ${kind} by itself.`, {
      hint: `it runs as a command or a module of yours, or in this process; released agents: ${all}`,
    });
  }
  const meant = didYouMean(name, [...kinds, ...known.map(({ release }) => release.program), ...adapters]);
  throw new WhetstoneError('agent-kind-unknown', `There is no kind of agent "${name}".`, {
    hint: `${meant === undefined ? '' : `did you mean ${meant}? `}known: ${all}`,
  });
}
