import {
  addUsage,
  type EventEnvelope,
  type JsonObject,
  type JsonValue,
  type StreamEvent,
  totalTokens,
  type Usage,
} from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { momentIn, textIn } from './fields.ts';
import type { NativeSummary } from './native-mapper.ts';
import { textTail } from './text-tail.ts';

/** Limit of an agent's text in the summary. */
export const SUMMARY_TEXT_BYTES = 4 * 1024;

type UsageFacts = {
  model?: string | undefined;
  costUsd?: number | undefined;
  latencyMs?: number | undefined;
  /** As in the event. */
  calls?: number | null | undefined;
};

/** Whether all counts are valid: see `tokensIn`. */
const isCounted = (usage: Usage): boolean => !Object.values(usage).some(Number.isNaN);

type SessionFacts = Partial<Pick<JsonObject, 'runtimeVersion' | 'model' | 'workingDir'>>;

/** What a mapper remembers of its session and of the current turn, for events and summary. */
export class SessionRecord {
  sessionId: string | undefined;
  /** Counted from 0; -1 before the first prompt, and in a stream, which has one turn. */
  turn = -1;
  ending: NativeSummary['ending'];
  usage: Usage | undefined;
  data: JsonValue | undefined;
  costUsd = 0;
  readonly subagents: NonNullable<NativeSummary['subagents']> = {};
  #failure: string | undefined;

  get failure(): string | undefined {
    return this.#failure;
  }

  /** Keeps the end of the text. */
  set failure(text: string | undefined) {
    this.#failure = text === undefined ? undefined : textTail(text, SUMMARY_TEXT_BYTES);
  }

  beginTurn(): void {
    this.turn += 1;
    this.ending = undefined;
    this.failure = undefined;
    this.usage = undefined;
    this.costUsd = 0;
  }

  /** The start of the session. Facts that are not text are left out. */
  started(runtime: string, sessionId: string, facts: SessionFacts): StreamEvent {
    this.sessionId = sessionId;
    return {
      ...{ type: 'session.started', sessionId, runtime },
      ...present({
        runtimeVersion: textIn(facts.runtimeVersion),
        model: textIn(facts.model),
        workingDir: textIn(facts.workingDir),
      }),
    };
  }

  /** The start of a session whose items all name it, at the first of them; no event at the others. */
  startedAt(runtime: string, { sessionId, version, cwd, timestamp }: JsonObject): StreamEvent[] {
    if (typeof sessionId !== 'string' || this.sessionId !== undefined) return [];
    const facts = present({ runtimeVersion: version, workingDir: cwd });
    return [{ ...this.started(runtime, sessionId, facts), ...momentIn(timestamp) }];
  }

  /** The event of one model call or of several, whose usage and cost are added to those of the turn. None for an invalid usage. */
  used(usage: Usage, about: UsageFacts = {}): StreamEvent[] {
    this.usage = this.usage ? addUsage(this.usage, usage) : usage;
    this.costUsd += about.costUsd ?? 0;
    if (!isCounted(usage)) return [];
    const { calls, ...others } = about;
    return [{ type: 'usage', usage, ...(calls !== 1 && present({ calls })), ...present(others) }];
  }

  /** Time, turn and parent call of an item. */
  envelope({ timestamp }: JsonObject, parentCallId?: string): EventEnvelope {
    return {
      ...momentIn(timestamp),
      ...(this.turn >= 0 && { turn: this.turn }),
      ...present({ parentCallId }),
    };
  }

  summary(): NativeSummary {
    const { ending, failure, sessionId, usage, costUsd, subagents, data } = this;
    // No model call uses no tokens: an agent that reports 0 in all does not know.
    const isKnown = usage && isCounted(usage) && totalTokens(usage) > 0;
    return {
      ...present({ ending, failure, sessionId }),
      ...(isKnown && { usage }),
      ...(usage && !isCounted(usage) && { hasInvalidUsage: true }),
      ...(costUsd > 0 && { costUsd }),
      ...present({ data }),
      ...(Object.keys(subagents).length > 0 && { subagents }),
    };
  }
}

/** Puts the envelope of an item behind the fields of each of its events. What an event already has stays. */
export const enveloped = (
  events: StreamEvent[] | undefined,
  envelope: EventEnvelope,
): StreamEvent[] | undefined => events?.map((event) => ({ ...event, ...envelope, ...event }));
