/** `@whetstone/agents/config`: what a configuration can say of agents. */
export { executableOf } from './command/executable.ts';
export { type FindProgram, findOnPath, isExecutable } from './command/find-on-path.ts';
export { resumeCommandOf } from './command/resume-command.ts';
export {
  COMMAND_VARIABLES,
  commandParts,
  commandProblems,
  fillTemplate,
  namesVariable,
  parseTemplate,
  renderCommand,
  unknownVariables,
} from './command/template.ts';
export type {
  AgentConfig,
  AgentContextConfig,
  CliAgentConfig,
  Command,
  LoopAgentConfig,
  McpServerConfig,
  ModuleAgentConfig,
  PluginConfig,
  SkillConfig,
  TelemetryConfig,
} from './config.ts';
export { readFrontMatter } from './kit/skill-front-matter.ts';
export { type LoopProfile, loopProfiles } from './loop/loop-profiles.ts';
export { contextPlaces, contextPlacesOf } from './native/context-places.ts';
export { agentKinds, type CliAgentKind, cliAgentKinds, isCliKind } from './native/kinds.ts';
export { takesOutputSchema } from './native/output-schema.ts';
export { manifestPaths, manifestsOf, pluginManifests } from './native/plugin-manifests.ts';
