import { jsonValueSchema } from '@whetstone/events';
import { z } from 'zod';
import type { AgentFamily } from '../agent-family.ts';
import type { OfferedTool, WireProtocol } from '../wire/neutral.ts';

const text = z.string().min(1);

const scriptCallSchema = z.discriminatedUnion('tool', [
  z.strictObject({ tool: z.literal('shell'), command: text }),
  z.strictObject({ tool: z.literal('read'), path: text }),
  // Creates the file and its folders, or replaces the whole file.
  z.strictObject({ tool: z.literal('write'), path: text, content: z.string() }),
  // Replaces `find`, which must occur once. Every agent's edit tool can replace whole lines.
  z.strictObject({ tool: z.literal('edit'), path: text, find: text, replace: z.string() }),
  z.strictObject({
    tool: z.literal('native'),
    name: text,
    input: z.union([z.string(), z.record(z.string(), jsonValueSchema)], 'an object or text'),
  }),
]);

export type ScriptCall = z.infer<typeof scriptCallSchema>;

/** A tool call that every coding agent can do in its own way. Paths are relative to the agent's working directory. */
export type NeutralCall = Exclude<ScriptCall, { tool: 'native' }>;

/**
 * Calls the offered tool of that name with this exact input: an object for a function tool, text for a freeform tool.
 * For anything that the neutral calls cannot express. Only agents that offer the tool can play it.
 */
export type NativeCall = Extract<ScriptCall, { tool: 'native' }>;

const tokens = z.number().int().nonnegative().exactOptional();

/** Checks a step from a file or from a script's own code. */
export const scriptStepSchema = z
  .strictObject({
    text: z.string().exactOptional(),
    thinking: z.string().exactOptional(),
    calls: z.array(scriptCallSchema).exactOptional(),
    /**
     * The whole answer when the agent was asked for one with a JSON Schema: a call of the tool that the agent offers
     * for it (Claude Code, Qwen Code), or JSON as text. Not together with `text` or `calls`.
     */
    data: z.record(z.string(), jsonValueSchema).exactOptional(),
    /** Token buckets to report instead of the estimate. */
    usage: z
      .strictObject({
        inputTokens: tokens,
        outputTokens: tokens,
        cacheReadTokens: tokens,
        cacheWriteTokens: tokens,
        reasoningTokens: tokens,
      })
      .exactOptional(),
  })
  .refine(({ data, text, calls }) => data === undefined || (text ?? calls) === undefined, {
    path: ['data'],
    error: 'is the whole answer: without `text` and `calls`',
  });

/** One reply of the scripted model. A step without calls is the final answer of its turn. */
export type ScriptStep = z.infer<typeof scriptStepSchema>;

/** One model request, as a script sees it. */
export type ScriptRequest = {
  /**
   * Index of the step to play: how many model replies of the turn in progress are in the request's history. It only
   * depends on the request (see `currentTurn`), so a repeated request plays the same step.
   */
  step: number;
  /** The user messages of the turn in progress: the prompt, and what the agent puts around it. */
  userText: string;
  /** System and developer text. */
  instructions: string;
  /** All text of the request: instructions, messages and results of tools, of all turns. */
  text: string;
  /** Results of tools in the turn in progress, in order. */
  toolResults: { name: string; output: string }[];
  tools: OfferedTool[];
  family: AgentFamily;
  model: string;
  wire: WireProtocol;
  owner: string;
  /** `probability`: 0 to 1. Seeded by the lane's seed, its owner and the label: the same label, the same draw. */
  chance(label: string, probability: number): boolean;
};

/** `play` should depend on nothing but the request. An error that it throws becomes a 400 that names the script. */
export type Script = { name: string; play(request: ScriptRequest): ScriptStep | Promise<ScriptStep> };

/** Returns the script; gives it its type. */
export function defineScript(script: Script): Script {
  return script;
}

/** A script that plays `steps` in order, and then a short final text. */
export function scriptFromSteps(name: string, steps: readonly ScriptStep[]): Script {
  return { name, play: ({ step }) => steps[step] ?? { text: 'Done.' } };
}
