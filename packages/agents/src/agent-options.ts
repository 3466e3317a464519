import { resolve } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { suggestion } from '@whetstone/errors/did-you-mean';
import { present } from '@whetstone/events/present';
import type {
  AgentConfig,
  AgentContextConfig,
  Command,
  CommandAgentConfig,
  DriverOptions,
  LoopOptions,
} from './config.ts';
import { loopProfiles } from './loop/loop-profiles.ts';
import {
  agentKinds,
  type DrivenAgentKind,
  isDrivenKind,
  kindNamed,
  type ProtocolKind,
  protocolAgentsOf,
} from './native/native-agents.ts';

/** Which agent, and how it is run: a released one, a command of yours, a module of yours, or the loop. */
export type AgentOptions = DrivenAgentOptions | CommandAgentOptions | ModuleAgentOptions | LoopAgentOptions;

type SharedOptions = {
  /** Name in errors. Default: the kind. */
  name?: string;
  /**
   * Environment for this agent only. Of your own environment, it only gets PATH, locale and similar variables. `${NAME}`
   * is replaced with a variable of yours, whose value is masked in everything that is kept. Default: none.
   */
  env?: Record<string, string>;
};

/** A released agent, started and read by this package. Its key comes from `apiKeyEnv`, or from the lane of a gateway. */
export type DrivenAgentOptions = SharedOptions &
  Partial<DriverOptions> & {
    kind: DrivenAgentKind | ProtocolKind | OtherName;
  };

/** Another name of a kind, such as `openai:codex` or `anthropic:claude-code`. */
type OtherName = `${string}:${string}` | 'opencode';

/** An agent that runs through a command line of yours. */
export type CommandAgentOptions = SharedOptions & {
  /**
   * Text is a shell script, a list an argument vector that no shell sees. Variables such as `{prompt_file}` and
   * `{workspace}` are replaced; docs/agents/custom.md has them all.
   */
  command: string | string[];
  /** Resumes a session. Default: `command`, if it names `{session_id}`. */
  resumeCommand?: string | string[];
  /** How the output is read. Default: `custom`, whose output is the answer as text. */
  kind?: CommandAgentConfig['kind'];
  /** Decides what a command that speaks a protocol asks. Default: everything is denied. */
  policy?: CommandAgentConfig['policy'];
  /** Where the agent looks for skills and MCP servers. Default: the places of its kind. */
  context?: AgentContextConfig;
};

/** A module whose default export is an agent. An agent object of yours does not need `createAgent`. */
export type ModuleAgentOptions = SharedOptions & {
  kind?: 'custom' | 'ai-sdk-harness';
  /** A path; a relative one starts at the current folder. */
  module: string;
  /** Passed to the adapter, which defines its meaning. */
  model?: string;
  context?: AgentContextConfig;
};

/** Our own loop, in this process. */
export type LoopAgentOptions = SharedOptions & LoopOptions & { kind: 'loop' };

/** Text is a shell script, a list an argument vector. */
export const toCommand = (value: string | string[]): Command =>
  typeof value === 'string' ? { kind: 'shell', script: value } : { kind: 'argv', argv: value };

/**
 * The whole configuration of an agent, defaults filled in.
 * @throws WhetstoneError `agent-kind-unknown` for options that name no agent, `agent-option-unknown` for a loop without a
 * profile: code in JavaScript, and experiments, are not checked by their types
 */
export function toAgentConfig(options: AgentOptions): AgentConfig {
  const { name, env = {} } = options;
  const kind = kindNamed(options.kind ?? 'custom');
  // Who drives an agent sets the limit of each turn.
  const base = { name: name ?? kind, env, timeoutSeconds: 3600 };
  if ('command' in options) {
    const { command, resumeCommand, context, policy } = options;
    return {
      ...{
        ...base,
        runner: 'command',
        kind: kind as CommandAgentConfig['kind'],
        command: toCommand(command),
      },
      telemetry: { collector: 'none', file: 'telemetry.json', environmentVariable: null },
      ...present({
        context,
        policy,
        resumeCommand: resumeCommand === undefined ? undefined : toCommand(resumeCommand),
      }),
    };
  }
  if ('module' in options) {
    const { module, model, context } = options;
    return {
      ...{ ...base, runner: 'module', kind: 'custom' },
      module: { file: resolve(module), ...present({ model }) },
      ...present({ context }),
    };
  }
  if (options.kind === 'loop') {
    const { name: _, env: __, kind: ___, ...loop } = options;
    if (!loopProfiles.includes(loop.profile)) {
      throw new WhetstoneError(
        'agent-option-unknown',
        `The loop has no profile ${JSON.stringify(loop.profile)}.`,
        {
          hint: `Set \`profile\` to one of: ${loopProfiles.join(', ')}.`,
        },
      );
    }
    return { ...base, runner: 'loop', kind: 'loop', loop };
  }
  if (!isDrivenKind(kind) && !protocolAgentsOf(kind)) throw unknownAgent(kind);
  const { name: _, env: __, kind: ___, inherit = [], ...driver } = options;
  return { ...base, runner: 'driver', kind: kind as DrivenAgentKind, driver: { ...driver, inherit } };
}

function unknownAgent(kind: string): WhetstoneError {
  const shown = JSON.stringify(kind);
  return (agentKinds as readonly string[]).includes(kind)
    ? new WhetstoneError('agent-kind-unknown', `Whetstone does not start an agent ${shown} by itself.`, {
        hint: 'Set `command`, or `module` for an agent in code.',
      })
    : new WhetstoneError('agent-kind-unknown', `There is no agent ${shown}.`, {
        hint: suggestion(kind, agentKinds, 'agents'),
      });
}
