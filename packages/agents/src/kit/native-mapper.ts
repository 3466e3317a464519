import type { JsonObject, JsonValue, StreamEvent, Usage } from '@whetstone/events';

/**
 * Maps what one kind of agent prints or keeps, item by item, to events. One for each stream: it may remember what came
 * before, such as the calls whose results are still to come.
 */
export interface NativeMapper {
  /**
   * The events of one item, in order: an empty list for an item that only repeats or announces another, `undefined` for
   * one that it does not know. Where it throws, the item counts as unknown. An unknown item is kept whole, as `raw`.
   */
  map(item: JsonObject): StreamEvent[] | undefined;
  /** What the items so far come to. */
  summary(): NativeSummary;
}

/** What a stream says of its turn. Evidence, to be weighed against how the process ended and what went over the wire. */
export type NativeSummary = {
  /** The last word on how the turn ended; absent where the stream breaks off, whatever the exit code is. */
  ending?: 'completed' | 'failed' | 'waiting';
  /** Why it failed, in the agent's words. */
  failure?: string;
  /** The agent's own id of its session, with which it can go on. */
  sessionId?: string;
  /** Of this turn, each token once. */
  usage?: Usage;
  /** US dollars, as the agent reckons. */
  costUsd?: number;
  /** Sub-agents whose doings are not here but in transcripts of their own: by their ids, the calls that began them. */
  subagents?: Record<string, string>;
  /** Structured output. */
  data?: JsonValue;
  /** What only this kind of agent tells, under its own names. */
  metadata?: JsonObject;
};

export type CreateMapper = (place: MapperPlace) => NativeMapper;

export type MapperPlace = {
  /** Paths below it become relative. Absent where nobody knows it any more. */
  workdir?: string;
  /** Names of the MCP servers that the agent was given, for those whose tools do not tell where a server's name ends. */
  mcpServers?: readonly string[];
};
