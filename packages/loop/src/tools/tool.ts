import type { JsonObject } from '@whetstone/events';
import type { Part } from '../conversation/turn.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import type { OutputLimit } from './truncate.ts';

/**
 * What the model is told about a tool. `parameters` is a JSON Schema whose root is an object.
 * - `freeform`: where the wire has grammar tools the model writes plain text; elsewhere it is a function with the one
 *   string `argument`. The executor gets `{ [argument.name]: text }` either way.
 * - `provider`: runs at the provider, `id` is `<provider>.<tool>`; nothing is executed here.
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

/** What a tool gives back. A string is plain text; `details` go to the host alone. */
export type ToolOutput = string | { content: string | Part[]; isError?: boolean; details?: JsonObject };

export type ToolContext = {
  environment: ExecutionEnvironment;
  /** Aborts on `interrupt()` and `close()`. An executor that ignores it is left behind after a grace period. */
  signal: AbortSignal;
  callId: string;
  sessionId: string;
  /** Reports output while the tool runs. */
  onUpdate: (text: string) => void;
  limits: { defaultCommandTimeoutMs: number | undefined; maxCommandTimeoutMs: number };
};

/** Runs one call. `args` have passed the schema. What it throws becomes an error result that the model reads. */
export type ToolExecutor<Args> = (args: Args, context: ToolContext) => ToolOutput | Promise<ToolOutput>;

type ToolTraits = {
  definition: ToolDefinition;
  /**
   * `shared` calls of one response run at the same time; an `exclusive` one runs alone, after those before it and
   * before those after it. Default `exclusive`.
   */
  concurrency?: 'shared' | 'exclusive';
  /** For a `shared` tool whose caller may ask to wait for the calls before it; gets the arguments as the model wrote them. */
  waitsForEarlier?: (input: string) => boolean;
  /** How much of the output the model reads. Default: by name (spec 5.2), 30,000 characters for other tools. */
  output?: OutputLimit;
  /** One line in the system prompt about when to use the tool. */
  guidance?: string;
  /** For tools that poll, whose repetition is no loop. */
  exemptFromLoopDetection?: boolean;
};

export type RegisteredTool = ToolTraits & { executor: ToolExecutor<JsonObject> };

/** Ties an executor's argument type to the schema beside it, which the pipeline checks before each call. */
export function defineTool<Args>(tool: ToolTraits & { executor: ToolExecutor<Args> }): RegisteredTool {
  return tool as unknown as RegisteredTool;
}
