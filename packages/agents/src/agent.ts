import type { AgentFacts, JsonObject, StreamEvent, Usage } from '@whetstone/events';
import type { Sandbox } from '@whetstone/sandbox';
import type { DeclaredContext } from './kit/declared-context.ts';
import type { InputItem } from './kit/input-items.ts';
import type { AskHuman } from './policy/policy.ts';

/**
 * One interface for every coding agent (adapter reference, `defineAgent` and `defineSandboxAgent`). An adapter drives
 * its agent for one turn and reports in the event stream what the agent did. Its capabilities are part of its type, so
 * an evaluation that needs more does not compile.
 */
export interface Agent<Capabilities extends AgentCapabilities = AgentCapabilities> {
  readonly name: string;
  readonly capabilities: Readonly<Capabilities>;
  /**
   * Drives one turn. Resolves with the turn, even if the agent failed. Rejects only if the adapter could not drive the
   * agent.
   */
  send(input: TurnInput, context: AgentContext): Promise<Turn>;
}

export type AgentCapabilities = {
  /** Supports conversations of several turns: resumes the session `context.session.id`. */
  conversation?: boolean;
  /** Reports `action.*` and `subagent.*` events. Without this capability, the absence of such events means nothing. */
  toolObservability?: boolean;
  /** Makes its answer fit `TurnInput.outputSchema` and returns it as `Turn.data`. */
  structuredOutput?: boolean;
  /** Works on a file system. Set by `defineSandboxAgent`. */
  workspace?: boolean;
};

/** Whether an agent's type declares a capability: `true` only if it is known to be set. */
export type HasCapability<Of extends Agent, Name extends keyof AgentCapabilities> =
  Of extends Agent<infer Capabilities>
    ? Capabilities extends { [name in Name]: true }
      ? true
      : false
    : false;

/** The answer to an `input.requested`. */
export type InputResponse = {
  /** That of the request, if it has one. */
  id?: string;
  /** The id of the chosen option, if the answer is one of the request's options. */
  option?: string;
  answer: string | boolean | Readonly<Record<string, string>>;
};

export type TurnInput = {
  /** The prompt. */
  text: string;
  /** The prompt in parts, if it was given so; `text` is then the same in words. Default: the prompt is only text. */
  items?: readonly InputItem[];
  /** Where the last turn waits for an answer (`input.requested`): the answer. `text` is then the same in words. */
  response?: InputResponse;
  /**
   * A JSON Schema (draft 2020-12) of type object that the turn's last answer must fit. Only agents with the capability
   * `structuredOutput` get one. The host checks whether the answer fits.
   */
  outputSchema?: JsonObject;
};

export type AgentContext = {
  /** Aborts at the turn's time limit and when the run is aborted. */
  signal: AbortSignal;
  /** The requested model. Absent: the agent's own default. */
  model?: string | undefined;
  /** Settings of the experiment, passed on unchanged. */
  flags: Readonly<Record<string, unknown>>;
  /** The adapter sets `id` after the first turn. `isNew` is true in the first turn of a session. */
  session: { id?: string | undefined; isNew: boolean };
  /** Logs a diagnostic of the adapter, as a `raw` event of the host in `events.jsonl`. */
  log: (message: string) => void;
  /** Set for agents made with `defineSandboxAgent`. */
  sandbox?: Sandbox;
  /**
   * The gateway's lane, if the run has one: base URL (without `/v1`), key, and the environment variables that point
   * agents and provider SDKs at it.
   */
  lane?: { baseUrl: string; key: string; env: Readonly<Record<string, string>> };
  /** Skills, MCP servers and plugins of the variant, to be put where the agent looks for them. Default: nothing. */
  declared?: DeclaredContext;
  /** Answers what the policy would decline. Default: nobody is asked. */
  ask?: AskHuman;
  /** Call this with each event as it happens. The turn's `events` must contain all of them. */
  emit: (event: StreamEvent) => void;
  /** Files for the agent's native output, and values that a command template may use. */
  files: AttemptFiles;
  /** Wall-clock limit of the turn, ms. */
  timeoutMs: number;
};

/** Paths outside the workspace and outside the run directory, private to one attempt. */
export type AttemptFiles = {
  /** The prompt of the turn, already written. */
  promptFile: string;
  /** The agent may write here; the folder is kept with the case. */
  outputDir: string;
  /**
   * The adapter's own folder, already made, for what it must know in the next turn. It is not in the workspace or the
   * home, and no command gets its path (the process sandbox cannot stop one that searches for it). It is deleted with
   * the attempt.
   */
  stateDir: string;
  /** Capped copies of the agent's output, turn after turn. */
  stdoutFile: string;
  stderrFile: string;
  /** Template variables that name the case. A template that uses them unblinds the agent on purpose. */
  taskId: string;
  variant: string;
};

/** One turn of an agent: a prompt, and all that the agent did until it answered, failed or asked for input. */
export type Turn = {
  /** Everything that happened in the turn, in order. */
  events: StreamEvent[];
  /** Structured output: the answer to `TurnInput.outputSchema`. Absent: the agent gave none. */
  data?: unknown;
  /** `waiting`: the turn stopped at an `input.requested`. */
  status: 'completed' | 'failed' | 'waiting';
  /** Usage as the agent reports it. If a gateway saw the calls, its ledger counts instead. */
  usage?: Usage | undefined;
  /** US dollars, as the agent reports them. Absent: unknown. */
  costUsd?: number;
  /** How the agent's process or loop ended. The outcome class is based on it. */
  exit?: TurnExit;
  /** What the adapter knows of the turn and events cannot carry, such as the runtime. */
  facts?: AgentFacts;
  /** What a telemetry collector found, and what it missed. */
  telemetry?: Telemetry;
};

export type TurnExit = {
  /** By itself, at the time limit, or by the abort signal. */
  ended: 'exit' | 'timeout' | 'abort';
  /** Of the agent's process. Absent: it has none, the host ended it after its turn, or it stays for the next turn. */
  exitCode?: number;
  /** The agent's program is missing or cannot run. The host checked this; an exit code does not set it. */
  notStarted?: boolean;
  /** The provider error that ended the turn, if the host saw it itself. The agent's output never sets it. */
  providerError?: 'limit' | 'outage' | 'access';
  /** Why the turn failed. */
  message?: string;
};

/** What a telemetry collector read from a file or the output of a command. Counts are of the turn; absent: not reported. */
export type Telemetry = {
  status: 'unavailable' | 'collected' | 'partial' | 'error';
  source: 'none' | 'json-file' | 'codex-jsonl';
  error?: string;
  agentDurationSeconds?: number;
  promptTokens?: number;
  cachedInputTokens?: number;
  completionTokens?: number;
  totalTokens?: number;
  reasoningTokens?: number;
  reasoningStepCount?: number;
  toolCallCount?: number;
  toolCallsByName?: Record<string, number>;
  commandCallCount?: number;
  modelName?: string;
  /** Codes of what is missing, for example `usage_missing`. Empty: nothing is. */
  evidenceGaps: string[];
};

/** What `defineAgent` and `defineSandboxAgent` take; `Context` is what `send` gets. */
export type AgentDefinition<Capabilities extends AgentCapabilities, Context> = {
  name: string;
  /** Default: none. */
  capabilities?: Capabilities;
  send: (input: TurnInput, context: Context) => Promise<Turn>;
};

/** An agent that is driven in this process or over the network (adapter reference, "defineAgent"). */
export function defineAgent<const Capabilities extends AgentCapabilities = Record<never, never>>(
  agent: AgentDefinition<Capabilities, AgentContext>,
): Agent<Capabilities> {
  return {
    name: agent.name,
    capabilities: { ...agent.capabilities } as Capabilities,
    send: (input, context) => agent.send(input, context),
  };
}

/** An agent that runs in the sandbox: `context.sandbox` is always set, and it works on a file system. */
export function defineSandboxAgent<const Capabilities extends AgentCapabilities = Record<never, never>>(
  agent: AgentDefinition<Capabilities, AgentContext & { sandbox: Sandbox }>,
): Agent<Capabilities & { workspace: true }> {
  return {
    name: agent.name,
    capabilities: { ...(agent.capabilities as Capabilities), workspace: true },
    async send(input, context) {
      const { sandbox } = context;
      if (!sandbox) throw new TypeError(`Agent ${agent.name} needs a sandbox, and the caller gave none.`);
      return agent.send(input, { ...context, sandbox });
    },
  };
}
