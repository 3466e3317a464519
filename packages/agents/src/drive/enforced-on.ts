import type { AgentFacts } from '@whetstone/events';

/** What a turn was held to: the sandbox of its session, and none where the agent worked on a server of the user. */
export const enforcedOn = (
  facts: AgentFacts | undefined,
  { provider, network }: { provider: string; network: string },
): Pick<AgentFacts, 'network' | 'sandbox'> =>
  facts?.reproducibility === 'external'
    ? { network: 'open', sandbox: 'none' }
    : { network, sandbox: provider };
