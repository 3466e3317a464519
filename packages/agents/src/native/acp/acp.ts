import type { NativeAgent } from '../native-agent.ts';
import { acpAgents, acpInputs } from './agents.ts';
import { holdAcpTurn } from './client.ts';
import { AcpStream } from './stream.ts';

/** The Agent Client Protocol over standard input and output: released agents by name, and any command that speaks it. */
export const acp = {
  kind: 'acp',
  facts: {
    instructions: 'AGENTS.md',
    mcpServers: true,
    structuredOutput: false,
    sessions: 'session id',
    inputs: acpInputs,
  },
  stream: { open: (place) => new AcpStream(place) },
  agents: acpAgents,
  commandDialogue: (peer, turn) => holdAcpTurn(peer, turn),
} satisfies NativeAgent;
