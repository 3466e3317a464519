/**
 * `@whetstone/agents/config`: what a configuration file can say about agents. `createAgent` takes an `AgentConfig` as it
 * stands.
 */

// One agent, with every default filled in.

export type {
  AgentConfig,
  AgentContextConfig,
  Command,
  CommandAgentConfig,
  DriverAgentConfig,
  DriverOptions,
  LoopAgentConfig,
  LoopOptions,
  McpServerConfig,
  ModuleAgentConfig,
  ModuleOptions,
  PluginConfig,
  SkillConfig,
  TelemetryConfig,
} from './config.ts';
export { type LoopProfile, loopProfiles } from './loop/loop-profiles.ts';
export { typescriptSources } from './module/typescript-sources.ts';
export { driverProblems } from './native/check-options.ts';
export { drivenAgentOf } from './native/driven-agent-of.ts';
export {
  type AgentKind,
  agentKinds,
  type DrivenAgentKind,
  drivenAgentKinds,
  drivenAgents,
  enforcerOf,
  isDrivenKind,
  kindAliases,
  kindNamed,
  nativeAgentOf,
  type ProtocolKind,
  protocolAdapters,
  protocolAgentsOf,
  protocolKinds,
} from './native/native-agents.ts';
export {
  enforceable,
  openPermissions,
  type Permissions,
  permissionsOf,
} from './policy/permissions.ts';
export type { PolicyRule } from './policy/policy.ts';

// Schemas of the options: those of each way to run an agent, and the values that they are made of.

export { commandOptions } from './command/command-options.ts';
export { contextOptions } from './kit/context-options.ts';
export {
  anyText,
  command,
  count,
  httpUrl,
  minutes,
  name,
  safePath,
  seconds,
  text,
  variableName,
} from './kit/option-values.ts';
export { loopOptions } from './loop/loop-options.ts';
export { moduleOptions } from './module/module-options.ts';
export { driverOptions } from './native/driver-options.ts';

// Command templates: their variables, what is wrong with one, and the program that one runs.

export { toAgentConfig, toCommand } from './agent-options.ts';
export {
  COMMAND_VARIABLES,
  commandParts,
  commandProblems,
  namesVariable,
  renderCommand,
  resumeCommandOf,
  runCommandIn,
} from './command/command-template.ts';
export { executableOf } from './command/executable.ts';
export { type FindProgram, findOnPath, isExecutable } from './command/find-on-path.ts';
export { fillTemplate, parseTemplate, unknownVariables } from './command/template.ts';

// What is known of each agent: its key, where it looks for context, what it can do.

export { agentKeyVariable } from './kit/agent-secrets.ts';
export { readPrompt } from './kit/input-items.ts';
export { readFrontMatter } from './kit/skill-front-matter.ts';
export { loopFacts } from './loop/loop-facts.ts';
export { type ContextPlaces, contextPlacesOf, placesReadAbove } from './native/context-places.ts';
export {
  instructionPatterns,
  instructionsOf,
  instructionsRead,
  isInstructionFile,
  isRootInstructionFile,
} from './native/instruction-files.ts';
export { manifestPaths, manifestsOf } from './native/plugin-manifests.ts';
export { takesOutputSchema } from './native/takes-output-schema.ts';
