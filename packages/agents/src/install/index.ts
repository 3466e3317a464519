/** `@whetstone/agents/install`: released agents in the user's cache. */
export { agentVersion } from './agent-version.ts';
export { cacheFolder } from './cache-folder.ts';
export { installAgent, testedVersion } from './install-agent.ts';
export { installedVersions, isInstalled } from './installed-agents.ts';
