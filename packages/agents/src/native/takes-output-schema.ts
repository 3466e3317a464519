import type { AgentConfig } from '../config.ts';
import { loopFacts } from '../loop/loop-facts.ts';
import { drivenAgentOf } from './driven-agent-of.ts';

/** Whether an agent supports `output_schema`. A module says so in its capabilities, once it is loaded. */
export function takesOutputSchema(agent: AgentConfig): boolean | 'module' {
  switch (agent.runner) {
    case 'module':
      return 'module';
    case 'command':
      return false;
    case 'driver':
      return drivenAgentOf(agent).facts.structuredOutput;
    case 'loop':
      return loopFacts.structuredOutput;
  }
}
