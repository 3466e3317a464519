import type { EventEnvelope, JsonObject, JsonValue, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { countIn, momentIn, objectIn, textIn } from '../../kit/fields.ts';
import type { MapperPlace } from '../../kit/native-mapper.ts';
import { SessionRecord } from '../../kit/session-record.ts';
import { assistantEvents, type Calls, plainOutcome, plainText, userEvents } from './content.ts';
import { TaskPlan } from './task-plan.ts';
import { ToolCalls, type ToolOutcome, type ToolVocabulary } from './tool-calls.ts';

/** The model name in messages that Claude Code wrote itself. */
const SYNTHETIC = '<synthetic>';

/** A user message, in a form for both the stream and the transcript, whose field names differ. */
type ClaudePrompt = {
  isPrompt: boolean;
  /** What a tool reported besides its text. */
  toolResult: JsonValue | undefined;
};

/** Maps the messages of a Claude Code session, for both its stream and its transcript. */
export class ClaudeSession {
  readonly record = new SessionRecord();
  readonly tools: ToolCalls;
  readonly #calls: Calls;
  readonly #plan = new TaskPlan();
  /** A compaction has started and its summary is still missing. */
  hasCompacted = false;
  /** The last error that became an event. The end of the turn repeats it. */
  lastError: string | undefined;

  constructor({ workdir }: MapperPlace) {
    this.tools = new ToolCalls(claudeTools, workdir);
    this.#calls = { tools: this.tools, unwrap: (name, input) => ({ name, input }) };
  }

  assistant(message: JsonObject, isError: boolean): StreamEvent[] | undefined {
    if (isError) return this.error(plainText(message.content) ?? 'The model call failed.');
    if (message.model === SYNTHETIC) return undefined;
    const events = assistantEvents(message.content, this.#calls);
    for (const event of events) {
      if (event.type === 'action.called') this.#plan.called(event.callId, event.name, event.input);
    }
    return events;
  }

  user({ content }: JsonObject, { isPrompt, toolResult }: ClaudePrompt): StreamEvent[] | undefined {
    const planEvents: StreamEvent[] = [];
    // Every item seen so far holds one result. With several, the details cannot be assigned to one of them.
    const details = Array.isArray(content) && content.length === 1 ? toolResult : undefined;
    const outcomeOf = (block: JsonObject) => {
      const outcome = claudeOutcome(block, details);
      planEvents.push(...this.#plan.result(outcome, details));
      return outcome;
    };
    const events = userEvents({ content, isPrompt, outcomeOf }, this.tools);
    return events && [...events, ...planEvents];
  }

  error(message: string): StreamEvent[] {
    this.lastError = message;
    return [{ type: 'error', message }];
  }

  retry(cause: string, [attempt, tries, delay]: readonly (JsonValue | undefined)[]): StreamEvent[] {
    return this.error(`The model call failed (${cause}); retry ${attempt} of ${tries} in ${delay} ms.`);
  }

  /** The summary follows the boundary as a message. Together they become one event. */
  compacted(): StreamEvent[] {
    this.hasCompacted = true;
    return [];
  }

  /** The events of an item, after a compaction event if its summary never came. */
  behindCompaction(events: StreamEvent[] | undefined): StreamEvent[] | undefined {
    if (!this.hasCompacted || !events?.length) return events;
    this.hasCompacted = false;
    return [{ type: 'compaction' }, ...events];
  }

  compaction({ content }: JsonObject): StreamEvent[] {
    this.hasCompacted = false;
    return [{ type: 'compaction', ...present({ summary: plainText(content) }) }];
  }
}

/** Time and parent call of a stream item. */
export function streamEnvelope({ timestamp, parent_tool_use_id }: JsonObject): EventEnvelope {
  const parentCallId = textIn(parent_tool_use_id);
  return { ...momentIn(timestamp), ...present({ parentCallId }) };
}

export const messageIn = (item: JsonObject): JsonObject => {
  const message = objectIn(item.message);
  if (!message) throw new TypeError('No message.');
  return message;
};

/** Claude Code's tools, 2.1. `Task` is the older name of `Agent`. */
const claudeTools: ToolVocabulary = {
  shell: new Set(['Bash']),
  subagent: new Set(['Agent', 'Task']),
  skill: new Set(['Skill']),
  todos: new Set(['TodoWrite']),
  files: { Write: 'file_path', Edit: 'file_path', MultiEdit: 'file_path', NotebookEdit: 'notebook_path' },
};

/** `details`: the tool's own record. An object on success, a text on error, absent in sub-agents. */
function claudeOutcome(block: JsonObject, details: JsonValue | undefined): ToolOutcome {
  const outcome = plainOutcome(block);
  const record = objectIn(details) ?? {};
  const text = textIn(outcome.output) ?? '';
  return {
    ...outcome,
    output: reportOf(record) ?? outcome.output,
    exitCode: exitCode(outcome.status, text, record),
    isNewFile: record.type === 'create' || record.originalFile === null || text.startsWith('File created'),
    isLaunch: record.isAsync === true || text.startsWith('Async agent launched'),
  };
}

/** A sub-agent's answer, without the notes that Claude Code puts around it for the model. */
function reportOf({ agentId, content, harnessNoteCount, harnessTailCount }: JsonObject): string | undefined {
  if (typeof agentId !== 'string' || !Array.isArray(content)) return undefined;
  const end = content.length - countIn(harnessTailCount);
  return plainText(content.slice(countIn(harnessNoteCount), end));
}

/** For a failed command, Claude Code writes the exit code into the first line of the output. */
function exitCode(status: ToolOutcome['status'], text: string, record: JsonObject): number | undefined {
  if (status === 'failed') {
    const code = /^Exit code (\d+)/.exec(text)?.[1];
    return code === undefined ? undefined : Number(code);
  }
  const isUnknown = record.backgroundTaskId !== undefined || record.interrupted === true;
  return isUnknown ? undefined : 0;
}
