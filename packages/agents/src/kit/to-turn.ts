import type { JsonValue, StreamEventOf, Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Telemetry, Turn } from '../agent.ts';
import type { AgentConfig } from '../config.ts';
import type { ProgramEnd } from './dialogue.ts';
import type { KeptRecord } from './kept-events.ts';
import type { Reading } from './output-reader.ts';
import { stoppedMessages } from './stopped-messages.ts';
import { gapsAmong } from './telemetry/evidence-gaps.ts';
import { EVENT_TEXT_BYTES, textTail } from './text-tail.ts';
import type { TurnEvents } from './turn-events.ts';
import { turnFailure } from './turn-failure.ts';
import { mismatch, usageIn } from './turn-usage.ts';

/** Everything known of a turn before it is summed up. */
export type TurnOutcome = {
  result: ProgramEnd;
  reading: Reading;
  /** What the stream left out, from files that the agent kept; `undefined` if it could not be read. */
  kept: KeptRecord | undefined;
  /** Usage and model calls, as far as the agent's own output shows them; the cost as the agent or a price list says. */
  spent: {
    usage: Usage | undefined;
    calls: readonly StreamEventOf<'usage'>[] | undefined;
    costUsd: number | undefined;
  };
  /** The host checked the program: it is missing or cannot run. */
  notStarted: boolean;
  /** The host ended the program, because it kept repeating calls that its provider refuses. */
  isRefused: boolean;
  telemetry: Telemetry;
  /** The answer to an output schema. */
  data: JsonValue | undefined;
};

/** Sums up the turn of a program, from how its process ended and what it reported. */
export function toTurn(config: AgentConfig, turn: TurnEvents, outcome: TurnOutcome): Turn {
  const { result, reading, kept, spent, data, notStarted, isRefused } = outcome;
  const telemetry = withToolCounts(outcome);
  const { costUsd, calls } = spent;
  const ending = reading.source === 'text' ? undefined : reading.summary.ending;
  if (reading.source === 'text') addMessage(turn, result.stdout);
  const failure = isRefused ? { message: stoppedMessages.refused } : turnFailure(result, reading);
  if (failure) {
    const { message, details = '' } = failure;
    const text = details === '' ? message : `${message}\n${details}`;
    turn.add({ type: 'error', message: text, source: 'host' });
  }
  const written = usageIn(telemetry);
  const usage = spent.usage ?? written;
  const gaps = [
    ...telemetry.evidenceGaps,
    ...gapsOf({ ...outcome, telemetry }, usage),
    ...mismatch(spent.usage, written, telemetry),
  ];
  return {
    events: turn.events,
    status: failure ? 'failed' : ending === 'waiting' ? 'waiting' : 'completed',
    ...present({ data, usage, costUsd }),
    exit: {
      ended: result.ended,
      ...present({
        exitCode: result.exitCode,
        message: failure?.message,
        notStarted: notStarted || undefined,
      }),
    },
    facts: {
      runtime: config.kind,
      ...(reading.source === 'text' ? {} : reading.summary.facts),
      ...kept?.facts,
      ...present({ usage, costUsd, modelCalls: calls?.length, models: modelsOf(calls) }),
    },
    telemetry: { ...telemetry, evidenceGaps: [...new Set(gaps)] },
  };
}

/** The telemetry, with the counts of tool calls that are not among the events. */
function withToolCounts({ reading, telemetry }: TurnOutcome): Telemetry {
  const byName = reading.source === 'stream' ? reading.summary.toolCallsByName : undefined;
  if (!byName || telemetry.toolCallCount !== undefined) return telemetry;
  const toolCallCount = Object.values(byName).reduce((sum, calls) => sum + calls, 0);
  return { ...telemetry, toolCallCount, toolCallsByName: byName };
}

/** The models that answered, if every call names its own. */
function modelsOf(calls: TurnOutcome['spent']['calls']): string[] | undefined {
  const models = new Set(calls?.map(({ model }) => model));
  return models.size === 0 || models.has(undefined) ? undefined : ([...models] as string[]);
}

/** Plain output is the agent's message. */
function addMessage(turn: TurnEvents, stdout: string): void {
  const text = textTail(stdout, EVENT_TEXT_BYTES);
  if (text !== '') turn.add({ type: 'message', role: 'assistant', text });
}

function gapsOf({ reading, telemetry, kept }: TurnOutcome, usage: Usage | undefined): string[] {
  const toolGap = telemetry.toolCallCount === undefined ? ['tool_calls_missing'] : [];
  if (reading.source === 'text') return [...reading.gaps, ...toolGap];
  if (reading.source === 'transcript') return [];
  // The codex-jsonl collector names the gaps of the stream itself.
  if (telemetry.source === 'codex-jsonl') return kept ? [] : ['usage_missing'];
  const { lines, malformed, unknown, tooLong, isTruncated } = reading.summary;
  return gapsAmong({
    events_empty: lines === 0,
    events_malformed: malformed + tooLong > 0,
    events_truncated: isTruncated,
    usage_missing: usage === undefined,
    tool_calls_missing:
      toolGap.length > 0 &&
      (reading.summary.toolCallsByName === null || lines === malformed + unknown + tooLong),
  });
}
