/** `@whetstone/agents/install`: install released agents into the user's cache, once per version, and find them. */

export { agentVersion } from './agent-version.ts';
export { type AgentHere, agentsHere } from './agents-here.ts';
export { installAgent, testedVersion } from './install-agent.ts';
export { installedVersions, isInstalled } from './installed-agents.ts';
