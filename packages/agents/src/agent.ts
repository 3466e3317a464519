import type { AgentFacts, JsonObject, StreamEvent, Usage } from '@whetstone/events';
import type { Sandbox } from '@whetstone/sandbox';
import type { DeclaredContext } from './kit/declared-context.ts';

/**
 * One interface over every coding agent (adapter reference, `defineAgent` and `defineSandboxAgent`). An adapter
 * drives its agent for one turn and says in the event stream what it did. What it can do is in its type, so that an
 * evaluation that asks for more does not compile.
 */
export interface Agent<Capabilities extends AgentCapabilities = AgentCapabilities> {
  readonly name: string;
  readonly capabilities: Readonly<Capabilities>;
  /**
   * Drives one turn. Resolves with the turn for whatever the agent did, its failures included; rejects only when the
   * harness could not drive it.
   */
  send(input: TurnInput, context: AgentContext): Promise<Turn>;
}

export type AgentCapabilities = {
  /** Holds a conversation of several turns: it resumes the session that `context.session.id` names. */
  conversation?: boolean;
  /** Reports `action.*` and `subagent.*` events. Without it, that there are none says nothing. */
  toolObservability?: boolean;
  /** Holds its answer to `TurnInput.outputSchema`, and gives it as `Turn.data`. */
  structuredOutput?: boolean;
  /** Works on a file system. Set by `defineSandboxAgent`. */
  workspace?: boolean;
};

/** Whether an agent's type declares a capability: `true` only where it is known to be set. */
export type HasCapability<Of extends Agent, Name extends keyof AgentCapabilities> =
  Of extends Agent<infer Capabilities>
    ? Capabilities extends { [name in Name]: true }
      ? true
      : false
    : false;

export type TurnInput = {
  text: string;
  /**
   * A JSON Schema (draft 2020-12) of type object, that the turn's last answer has to fit. Asked of agents with the
   * capability `structuredOutput`; whether the answer does fit is the host's to check.
   */
  outputSchema?: JsonObject;
};

export type AgentContext = {
  /** Fires at the turn's time limit and when the run is aborted. */
  signal: AbortSignal;
  /** Model that was asked for; absent: the agent's own default. */
  model?: string | undefined;
  /** Settings of the experiment, passed on as they are. */
  flags: Readonly<Record<string, unknown>>;
  /** `id` is the adapter's to set after the first turn; `isNew` is true in the first turn of a session. */
  session: { id?: string | undefined; isNew: boolean };
  /** A diagnostic of the adapter: a `raw` event of the host in `events.jsonl`. */
  log: (message: string) => void;
  /** Set for agents made with `defineSandboxAgent`. */
  sandbox?: Sandbox;
  /**
   * The gateway's lane, where the run has one: base URL (without `/v1`), key, and the environment variables that point
   * agents and provider SDKs at it.
   */
  lane?: { baseUrl: string; key: string; env: Readonly<Record<string, string>> };
  /** What the variant gives the agent besides the tree, to be put where the agent looks for it. Default: nothing. */
  declared?: DeclaredContext;
  /** Called with events as they happen; the turn's `events` hold them all in the end. */
  emit: (event: StreamEvent) => void;
  /** Where the turn's native bytes go, and what a command template may name. */
  files: AttemptFiles;
  /** Wall-clock limit of the turn, ms. */
  timeoutMs: number;
};

/** Paths outside the workspace and outside the run directory, private to one attempt. */
export type AttemptFiles = {
  /** The prompt of the turn, already written. */
  promptFile: string;
  /** The agent may write here; it is kept with the case. */
  outputDir: string;
  /**
   * The adapter's own folder, already made: for what it has to know in the next turn. Not in the workspace or the home,
   * and named to no command; the process sandbox cannot keep a determined one out. It goes with the attempt.
   */
  stateDir: string;
  /** Capped copies of the agent's output, one turn behind the other. */
  stdoutFile: string;
  stderrFile: string;
  /** Template variables that name the case: a template that uses them unblinds the agent on purpose. */
  taskId: string;
  variant: string;
};

export type Turn = {
  /** Everything that happened in the turn, in order. */
  events: StreamEvent[];
  /** Structured output, beside the text: the answer to `TurnInput.outputSchema`. Absent: the agent gave none. */
  data?: unknown;
  /** `waiting`: the turn stopped at an `input.requested`. */
  status: 'completed' | 'failed' | 'waiting';
  /** What the agent says it used; where a gateway saw the calls, its ledger is the truth. */
  usage?: Usage | undefined;
  costUsd?: number;
  /** How the agent's process or loop ended: the evidence for the outcome class. */
  exit?: TurnExit;
  facts?: AgentFacts;
  /** What a telemetry collector found, and what it missed. */
  telemetry?: Telemetry;
};

export type TurnExit = {
  ended: 'exit' | 'timeout' | 'abort';
  exitCode?: number;
  /** The agent's program is not there or cannot be run: looked up by the host, not taken from the exit code. */
  notStarted?: boolean;
  /** What of the provider ended the turn, where the host saw it itself; never taken from what an agent prints. */
  providerError?: 'limit' | 'outage' | 'access';
  message?: string;
};

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
      if (!sandbox) throw new TypeError(`Agent ${agent.name} needs a sandbox, and the run gave it none.`);
      return agent.send(input, { ...context, sandbox });
    },
  };
}
