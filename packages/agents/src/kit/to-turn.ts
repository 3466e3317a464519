import { addUsage, type StreamEvent, type StreamEventOf, type Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { CommandResult } from '@whetstone/sandbox';
import type { Turn } from '../agent.ts';
import type { AgentConfig } from '../config.ts';
import type { JsonLinesSummary } from './read-json-lines.ts';
import { stoppedMessages } from './stopped-messages.ts';
import { textTail } from './text-tail.ts';
import type { TurnEvents } from './turn-events.ts';

const EVENT_TEXT_BYTES = 16 * 1024;

/** What the stream said, and what was kept beside it; `undefined` where that could not be read. */
export type TurnSummary = JsonLinesSummary & { kept: readonly StreamEvent[] | undefined };

/** The turn of a driven agent, from what its process came to and what it said. */
export function toTurn(
  config: AgentConfig,
  turn: TurnEvents,
  result: CommandResult,
  summary: TurnSummary,
): Turn {
  const { costUsd, data, ending } = summary;
  const usage = usageOf(summary);
  const failure = failureOf(result, summary);
  if (failure !== undefined) turn.add({ type: 'error', message: failure, source: 'host' });
  return {
    events: turn.events,
    status: failure !== undefined ? 'failed' : ending === 'waiting' ? 'waiting' : 'completed',
    ...present({ data, usage, costUsd }),
    exit: {
      ended: result.ended,
      exitCode: result.exitCode,
      ...present({ message: failure }),
    },
    facts: { runtime: config.kind, network: config.network },
    telemetry: {
      status: 'unavailable',
      source: 'none',
      evidenceGaps: gapsOf(summary, usage),
    },
  };
}

/** With sub-agents, which are of no use without the agent's own. */
function usageOf({ usage, kept }: TurnSummary): Usage | undefined {
  if (!kept) return undefined;
  const sumOf = (isOwn: boolean) =>
    kept
      .filter((event) => event.type === 'usage' && (event.parentCallId === undefined) === isOwn)
      .map((event) => (event as StreamEventOf<'usage'>).usage)
      .reduce<Usage | undefined>((sum, one) => (sum ? addUsage(sum, one) : one), undefined);
  const own = usage ?? sumOf(true);
  const others = sumOf(false);
  return own && others ? addUsage(own, others) : own;
}

/** Exit codes lie in both directions: what counts is a last word that is no failure, and that nobody stopped it. */
function failureOf(
  { ended, exitCode, stderr }: CommandResult,
  summary: JsonLinesSummary,
): string | undefined {
  if (ended !== 'exit') return stoppedMessages[ended];
  if (summary.ending === 'failed') return summary.failure ?? 'The agent says that its turn failed.';
  if (summary.ending !== undefined) return undefined;
  const said = textTail(summary.failure ?? stderr, EVENT_TEXT_BYTES);
  return `The agent ended (exit code ${exitCode}) without saying how its turn went.${said === '' ? '' : `\n${said}`}`;
}

function gapsOf(summary: JsonLinesSummary, usage: Usage | undefined): string[] {
  const gaps = {
    events_empty: summary.lines === 0,
    events_malformed: summary.malformed + summary.tooLong > 0,
    events_truncated: summary.isTruncated,
    usage_missing: usage === undefined,
  };
  return Object.entries(gaps).flatMap(([gap, isThere]) => (isThere ? [gap] : []));
}
