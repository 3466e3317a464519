/** `@whetstone/agents/install`: install released agents into the user's cache, once per version, and find them. */

export { capabilityMatrix, kindOfRow, type MatrixRow, matrixColumns } from '../contract/capability-matrix.ts';
export { agentVersion } from './agent-version.ts';
export { type AgentHere, adaptersHere, agentsHere } from './agents-here.ts';
export { type Check, checkAgents } from './check-agents.ts';
export { installAgent, testedVersion } from './install-agent.ts';
export { installedVersions, isInstalled, locateProgram, startOf } from './installed-agents.ts';
export { versionOfPackage } from './package-of.ts';
export { programFolders } from './program-folders.ts';
