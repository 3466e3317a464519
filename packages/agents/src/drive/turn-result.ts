import {
  type AgentMetadata,
  deriveAgentMetadata,
  type JsonValue,
  replyText,
  type Usage,
} from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Turn } from '../agent.ts';

/** What came of a turn, in the shape that evaluation tools share (provider taxonomy, "Outputs and Metadata"). */
export type TurnResult = {
  /** The answer to an output schema, else the agent's reply as text. */
  output: unknown;
  sessionId?: string;
  /** Absent: unknown. */
  tokenUsage?: Usage;
  /** US dollars. Absent: unknown. */
  cost?: number;
  metadata: { agent: AgentMetadata };
  /** What the agent printed and no event has a place for, item by item. */
  raw: JsonValue[];
  /** Why the turn failed. Absent: it did not. */
  error?: string;
};

/** Sums up a turn; of a session pass its turns one by one. Pure. */
export function turnResult(turn: Turn): TurnResult {
  const agent = deriveAgentMetadata(turn.events, turn.facts);
  const { sessionId } = agent;
  const error = turn.status === 'failed' ? (turn.exit?.message ?? 'The turn failed.') : undefined;
  return {
    output: turn.data ?? replyText(turn.events),
    ...present({ sessionId, tokenUsage: turn.usage, cost: turn.costUsd, error }),
    metadata: { agent },
    raw: turn.events.flatMap((event) => (event.type === 'raw' ? [event.native] : [])),
  };
}
