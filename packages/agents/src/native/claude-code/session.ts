import type { EventEnvelope, JsonObject, JsonValue, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { momentIn, objectIn, textIn } from '../../kit/fields.ts';
import { assistantEvents, type Calls, plainText, userEvents } from './content.ts';
import { TaskPlan } from './task-plan.ts';
import { ToolCalls } from './tool-calls.ts';
import { claudeOutcome, claudeTools } from './tools.ts';

/** What Claude Code puts in the place of a model's name in messages that it wrote itself. */
const SYNTHETIC = '<synthetic>';

/** One item in the terms that the stream and the transcript share, which spell their fields differently. */
export type ClaudeItem = {
  message: JsonObject;
  envelope: EventEnvelope;
  /** Of the user: whether its text is a prompt. */
  isPrompt?: boolean;
  /** Of the user: what a tool told besides its text. */
  toolResult?: JsonValue | undefined;
};

/** The messages of a session of Claude Code: what its stream and its transcript have in common. */
export class ClaudeSession {
  readonly tools: ToolCalls;
  readonly #calls: Calls;
  readonly #plan = new TaskPlan();
  /** A compaction of which the summary is still to come. */
  hasCompacted = false;
  /** The last error that an event told, which the end of the turn repeats. */
  lastError: string | undefined;

  constructor(workdir: () => string | undefined) {
    this.tools = new ToolCalls(claudeTools, workdir);
    this.#calls = { tools: this.tools, unwrap: (name, input) => ({ name, input }) };
  }

  assistant({ message, envelope }: ClaudeItem, isError: boolean): StreamEvent[] | undefined {
    if (isError) return this.error(plainText(message.content) ?? 'The model call failed.', envelope);
    if (message.model === SYNTHETIC) return undefined;
    const events = assistantEvents(message.content, this.#calls, envelope);
    for (const event of events) {
      if (event.type === 'action.called') this.#plan.called(event.callId, event.name, event.input);
    }
    return events;
  }

  user({ message, envelope, isPrompt = false, toolResult }: ClaudeItem): StreamEvent[] | undefined {
    const planEvents: StreamEvent[] = [];
    // One item holds one result, as far as seen; of several, the details belong to none for sure.
    const details = Array.isArray(message.content) && message.content.length === 1 ? toolResult : undefined;
    const outcomeOf = (block: JsonObject) => {
      const outcome = claudeOutcome(block, details);
      planEvents.push(...this.#plan.result(outcome, details, envelope));
      return outcome;
    };
    const events = userEvents({ content: message.content, isPrompt, outcomeOf }, this.tools, envelope);
    return events && [...events, ...planEvents];
  }

  error(message: string, envelope: EventEnvelope): StreamEvent[] {
    this.lastError = message;
    return [{ type: 'error', message, ...envelope }];
  }

  /** The summary comes as a message behind the boundary, and makes one event with it. */
  compacted(): StreamEvent[] {
    this.hasCompacted = true;
    return [];
  }

  /** The events of an item, behind the compaction that waited for its summary and got none. */
  behindCompaction(events: StreamEvent[] | undefined): StreamEvent[] | undefined {
    if (!this.hasCompacted || !events?.length) return events;
    this.hasCompacted = false;
    return [{ type: 'compaction' }, ...events];
  }

  /** The compaction whose summary a message is. */
  compaction({ content }: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    this.hasCompacted = false;
    const summary = plainText(content);
    return [{ type: 'compaction', ...present({ summary }), ...envelope }];
  }
}

/** The time and the parent of an item of the stream. */
export function streamEnvelope({ timestamp, parent_tool_use_id }: JsonObject): EventEnvelope {
  const parentCallId = textIn(parent_tool_use_id);
  return { ...momentIn(timestamp), ...present({ parentCallId }) };
}

export const messageOf = (item: JsonObject): JsonObject => {
  const message = objectIn(item.message);
  if (!message) throw new TypeError('No message.');
  return message;
};
