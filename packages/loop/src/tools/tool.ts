import type { JsonObject } from '@whetstone/events';
import type { Part } from '../conversation/turn.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import type { OutputLimit } from './truncate.ts';

/**
 * How the model knows a tool. `parameters` is a JSON Schema whose root is an object.
 * - `function`: the usual kind, and the default.
 * - `freeform`: the model writes plain text that fits the grammar. On a wire without grammar tools it is a function
 *   whose only parameter is the string `argument`. The executor gets `{ [argument.name]: text }` in both cases.
 * - `provider`: the tool runs at the provider and its executor is never called. `id` is `<provider>.<tool>`.
 */
export type ToolDefinition =
  | { type?: 'function'; name: string; description: string; parameters: JsonObject }
  | {
      type: 'freeform';
      name: string;
      description: string;
      grammar: { syntax: 'lark' | 'regex'; definition: string };
      argument: { name: string; description: string };
    }
  | { type: 'provider'; name: string; description: string; id: `${string}.${string}`; args: JsonObject };

/**
 * What a tool returns. A string is plain text for the model; `details` go to the host only. Two of them mean something
 * to the loop: `outputFile` is a file of the environment with the whole output, and `dropped` with `characters` and
 * `lines` counts what `content` lacks of it.
 */
export type ToolOutput = string | { content: string | Part[]; isError?: boolean; details?: JsonObject };

/** What an executor gets besides its arguments. */
export type ToolContext = {
  environment: ExecutionEnvironment;
  /** Aborts on `interrupt()` and `close()`. An executor that has not settled four seconds later is abandoned. */
  signal: AbortSignal;
  callId: string;
  sessionId: string;
  /** Reports output while the tool runs; the host gets it as `TOOL_CALL_OUTPUT_DELTA`. */
  onUpdate: (text: string) => void;
  /** Time limits for commands, in milliseconds. */
  limits: { defaultCommandTimeoutMs: number | undefined; maxCommandTimeoutMs: number };
};

/**
 * Runs one call. `args` fit the schema of the definition.
 *
 * Contract: may be asynchronous, and should settle when `context.signal` aborts. A throw or a rejection becomes an
 * error result that the model reads, so its message should say what the model can do about it.
 */
export type ToolExecutor<Args> = (args: Args, context: ToolContext) => ToolOutput | Promise<ToolOutput>;

type ToolTraits = {
  definition: ToolDefinition;
  /**
   * Whether calls of one response may run at the same time. Default `exclusive`.
   * - `shared`: together with the `shared` calls next to it.
   * - `exclusive`: by itself, after the calls before it and before the calls after it.
   */
  concurrency?: 'shared' | 'exclusive';
  /** Whether a `shared` call waits for the calls before it. `input`: the arguments as the model wrote them. */
  waitsForEarlier?: (input: string) => boolean;
  /** How much of the output the model reads. Default: the loop spec's limit for the name (5.2), else 30,000 characters. */
  output?: OutputLimit;
  /** One line in the system prompt about when to use the tool. */
  guidance?: string;
  /** Whether repeated calls are normal, as they are for a tool that polls. Default false. */
  exemptFromLoopDetection?: boolean;
};

/** A tool that a model can call. Make one with `defineTool`. */
export type RegisteredTool = ToolTraits & { executor: ToolExecutor<JsonObject> };

/** The JSON Schema of a tool's arguments: of a freeform tool, an object with its one argument. */
export function parametersOf(definition: Exclude<ToolDefinition, { type: 'provider' }>): JsonObject {
  if (definition.type !== 'freeform') return definition.parameters;
  const { name, description } = definition.argument;
  return { type: 'object', properties: { [name]: { type: 'string', description } }, required: [name] };
}

/** Makes a tool. `Args` is what the schema in `definition` admits; every call is checked against the schema first. */
export function defineTool<Args>(tool: ToolTraits & { executor: ToolExecutor<Args> }): RegisteredTool {
  return tool as unknown as RegisteredTool;
}

/**
 * Under which names and parameters the model knows the tools of a profile:
 * - `spec`: those of the loop specification. The default.
 * - `native`: those of the family's released agent, with which its models were trained.
 */
export type ToolSet = 'spec' | 'native';

/** Whose names and parameters the tools for subagents have. */
export type SubagentToolSet = 'spec' | 'codex' | 'claude-code';

/** Whose name and parameters the tool has by which the model asks the user. */
export type AskUserToolSet = 'spec' | 'codex' | 'claude-code' | 'gemini-cli';
