import type { AgentFacts, JsonObject, JsonValue, StreamEvent, Usage } from '@whetstone/events';

/**
 * Maps the stream or transcript of one kind of agent to events, item by item. Each stream needs its own mapper, because
 * a mapper remembers earlier items, such as calls without a result. `SessionRecord` is what all mappers remember.
 */
export interface NativeMapper {
  /**
   * Returns the events of one item, in order: an empty list for an item that only repeats or announces another, and
   * `undefined` for an unknown item. If it throws, the item is unknown too. An unknown item becomes a `raw` event.
   */
  map(item: JsonObject): StreamEvent[] | undefined;
  /** Called once after the last item. Returns what was still open, such as the text of a message that was cut off. */
  end?(): StreamEvent[];
  /** Sums up the items so far. */
  summary(): NativeSummary;
  /**
   * How many refusals of its key or login in a row the agent has reported and means to retry. Absent: its retries of a
   * refusal end by themselves within seconds.
   */
  refusals?: () => number;
}

/** What a stream reports of its turn. It is one piece of evidence, beside the end of the process and the gateway. */
export type NativeSummary = {
  /** How the turn ended. Absent if the stream breaks off, whatever the exit code is. */
  ending?: 'completed' | 'failed' | 'waiting';
  /** Why it failed, in the agent's words. */
  failure?: string;
  /** The agent's own id of its session, which resumes it. */
  sessionId?: string;
  /** Usage of this turn, with each token counted once. */
  usage?: Usage;
  /** The agent reported a usage that is not in tokens, such as -5. Then `usage` is absent. */
  hasInvalidUsage?: boolean;
  /** US dollars, as the agent reports them. */
  costUsd?: number;
  /** Sub-agents whose events are only in their own transcripts: id of the sub-agent → call that started it. */
  subagents?: Record<string, string>;
  data?: JsonValue;
  /** Tool calls that are not among the events, by name; `null`: there may be some. Absent: the events have them all. */
  toolCallsByName?: Record<string, number> | null;
  /** The kind of agent that these items say they come from, if it is another one. */
  otherKind?: string;
  /** What the agent reports and its events cannot carry. */
  facts?: AgentFacts;
  /** Facts that only this kind of agent reports, under its own names. */
  metadata?: JsonObject;
};

export type CreateMapper = (place: MapperPlace) => NativeMapper;

export type MapperPlace = {
  /** Paths below this folder become relative. Absent if it is not known any more. */
  workdir?: string;
  /** Names of the agent's MCP servers, because some tool names do not show where the server's name ends. */
  mcpServers?: readonly string[];
};
