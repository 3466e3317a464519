import { z } from 'zod';
import { jsonValueSchema } from './json-value-schema.ts';
import { usageSchema } from './usage-schema.ts';

/**
 * The event stream: what an agent did, in one vocabulary for every agent. The first eight members are the union of
 * the adapter reference, names and fields kept; the rest extends it (DESIGN.md, "Events"). A reader ignores types
 * that it does not know.
 */

/** Fields that every event may carry. */
const envelope = {
  /** When it happened, ISO 8601 UTC with milliseconds. */
  at: z.iso.datetime().optional(),
  /** The turn (one `send`) it belongs to, from 0. */
  turn: z.number().int().nonnegative().optional(),
  /** Who saw it: the agent's own stream, the gateway on the wire, or the host. */
  source: z.enum(['agent', 'gateway', 'host']).optional(),
  /** Only on the events of a sub-agent: the `callId` of the `subagent.called` that started it. */
  parentCallId: z.string().optional(),
};

const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ type: z.literal(type), ...envelope, ...shape });

/** One question to a human; the turn that ends with it has status `waiting`. */
export const inputRequestSchema = z.object({
  id: z.string().optional(),
  prompt: z.string(),
  /** The purpose of the input, for example `approval` or `question`. */
  kind: z.string().optional(),
  options: z.array(z.object({ id: z.string(), label: z.string().optional() })).optional(),
  data: jsonValueSchema.optional(),
});
export type InputRequest = z.infer<typeof inputRequestSchema>;

export const streamEventSchema = z.discriminatedUnion('type', [
  event('message', { role: z.enum(['assistant', 'user']), text: z.string() }),
  event('action.called', { callId: z.string(), name: z.string(), input: jsonValueSchema }),
  event('action.result', {
    callId: z.string(),
    output: jsonValueSchema.optional(),
    status: z.enum(['completed', 'failed', 'rejected']),
  }),
  /**
   * A delegation. When the model made it with a tool call, `action.called` with the input comes first, and both events
   * have the same `callId`: they are one call. `name` is the kind of sub-agent, or its parent's name for it. The events
   * of the sub-agent have the `callId` as their `parentCallId`.
   */
  event('subagent.called', { callId: z.string(), name: z.string(), remoteUrl: z.string().optional() }),
  /**
   * The end of a sub-agent, with its report; also `failed` for a sub-agent that never began. The tool call has an
   * `action.result` like any other call: after this event, or before it when the sub-agent works in the background.
   */
  event('subagent.completed', {
    callId: z.string(),
    output: jsonValueSchema.optional(),
    status: z.enum(['completed', 'failed']),
  }),
  event('input.requested', { request: inputRequestSchema }),
  event('thinking', { text: z.string() }),
  event('error', { message: z.string() }),

  event('session.started', {
    sessionId: z.string().optional(),
    runtime: z.string().optional(),
    runtimeVersion: z.string().optional(),
    model: z.string().optional(),
    workingDir: z.string().optional(),
    /** The agent resumed a session of an earlier turn; absent when the agent does not report it. */
    resumed: z.boolean().optional(),
    /** The names of the given plugins that the agent loaded; absent when it does not report them. */
    plugins: z.array(z.string()).optional(),
  }),
  /** What model calls used. `costUsd` is absent when the price is unknown; it is never guessed. */
  event('usage', {
    usage: usageSchema,
    /** How many model calls this is the usage of; `null` when the agent does not report that. Default: one. */
    calls: z.number().int().positive().nullable().optional(),
    model: z.string().optional(),
    costUsd: z.number().nonnegative().optional(),
    latencyMs: z.number().nonnegative().optional(),
  }),
  /** From the source `host`: how the file differs after the turns from before them, whoever changed it. */
  event('file.changed', {
    path: z.string(),
    change: z.enum(['added', 'modified', 'deleted', 'renamed']),
    from: z.string().optional(),
  }),
  event('approval.requested', {
    callId: z.string(),
    name: z.string().optional(),
    reason: z.string().optional(),
  }),
  event('approval.decided', {
    callId: z.string(),
    decision: z.enum(['approved', 'denied']),
    /**
     * `policy`: a rule or a permission of the configuration. `user`: a human at the terminal. `agent`: the agent itself,
     * by its own mode, or its model's provider.
     */
    by: z.enum(['user', 'policy', 'agent']).optional().catch(undefined),
    /** What decided: a rule as it is written, a permission (`permissions.shell: off`), or the agent's own reason. */
    rule: z.string().optional(),
  }),
  event('compaction', { summary: z.string().optional(), droppedMessages: z.number().int().optional() }),
  /**
   * A skill entered the conversation. `callId`: the call that loaded it, if the agent has a tool for that or read the
   * file. A load that failed gives no such event.
   */
  event('skill.loaded', { skill: z.string(), callId: z.string().optional() }),
  event('plan.updated', {
    steps: z.array(z.object({ text: z.string(), status: z.enum(['pending', 'in_progress', 'completed']) })),
  }),
  /** A native item without a mapping, kept whole so that nothing is lost. */
  event('raw', { native: jsonValueSchema }),
]);

export type StreamEvent = z.infer<typeof streamEventSchema>;
export type StreamEventType = StreamEvent['type'];
/** When and in which turn an event happened, and which call it belongs below. */
export type EventEnvelope = Pick<StreamEvent, 'at' | 'turn' | 'parentCallId'>;
export type StreamEventOf<Type extends StreamEventType> = Extract<StreamEvent, { type: Type }>;

/** Reads one event; `undefined` for a type or a shape that this version does not know. Never throws. */
export function parseStreamEvent(value: unknown): StreamEvent | undefined {
  const parsed = streamEventSchema.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}
