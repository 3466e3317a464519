/** `@whetstone/agents/config`: the part of a configuration that describes agents. */
export { toCommand } from './agent-options.ts';
export { commandOptions } from './command/command-options.ts';
export {
  COMMAND_VARIABLES,
  commandParts,
  commandProblems,
  namesVariable,
  renderCommand,
} from './command/command-template.ts';
export { executableOf } from './command/executable.ts';
export { type FindProgram, findOnPath, isExecutable } from './command/find-on-path.ts';
export { resumeCommandOf } from './command/resume-command.ts';
export { fillTemplate, parseTemplate, unknownVariables } from './command/template.ts';
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
export { agentKeyVariable } from './kit/agent-key-variable.ts';
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
export { readFrontMatter } from './kit/skill-front-matter.ts';
export { loopFacts } from './loop/loop-facts.ts';
export { loopOptions } from './loop/loop-options.ts';
export { type LoopProfile, loopProfiles } from './loop/loop-profiles.ts';
export { moduleOptions } from './module/module-options.ts';
export { contextPlacesOf } from './native/context-places.ts';
export { driverOptions } from './native/driver-options.ts';
export {
  type AgentKind,
  agentKinds,
  type DrivenAgentKind,
  drivenAgentKinds,
  drivenAgents,
  isDrivenKind,
} from './native/native-agents.ts';
export { manifestPaths, manifestsOf } from './native/plugin-manifests.ts';
export { takesOutputSchema } from './native/takes-output-schema.ts';
