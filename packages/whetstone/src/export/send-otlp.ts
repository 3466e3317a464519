import { setTimeout as pause } from 'node:timers/promises';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import { caseLayout, runLayout } from '../record/layout.ts';
import { readableEvents } from '../run/stored-events.ts';
import type { ReportedRun } from '../run/write-report.ts';
import { spansOf } from './export-run.ts';

export type OtlpTarget = {
  /** The address of a collector, or of its `/v1/traces`. */
  url: string;
  /** Such as the key of a backend. */
  headers?: Record<string, string>;
  /** Whether messages, arguments and results go into the spans. Default: false, as the conventions ask. */
  content?: boolean;
  /** Replaced in tests. */
  wait?: (seconds: number) => Promise<unknown>;
};

export type Sent = { cases: number; without_events: number; rejected_spans: number };

const TRIES = 4;
const TIMEOUT_MS = 30_000;
/** By the protocol, these may be sent again; all other answers may not. */
const AGAIN = [429, 502, 503, 504];

/**
 * Sends the cases of a run to a receiver of OTLP/HTTP with JSON, one request per case.
 * @throws WhetstoneError `otlp-refused`, `otlp-unreachable`
 */
export async function sendOtlp(run: ReportedRun, target: OtlpTarget): Promise<Sent> {
  const sent: Sent = { cases: 0, without_events: 0, rejected_spans: 0 };
  const address = tracesAddress(target.url);
  for (const row of run.ordered) {
    const { events } = readableEvents(caseLayout(runLayout(run.directory).case(row.case_id)));
    if (events.length === 0) {
      sent.without_events += 1;
      continue;
    }
    const { value } = spansOf(run, row, events, target.content ?? false);
    sent.rejected_spans += await post(address, JSON.stringify(value), target);
    sent.cases += 1;
  }
  return sent;
}

/** The address of traces: as it is where it ends so, else below the address of the collector. @throws `otlp-unreachable` */
export function tracesAddress(url: string): string {
  const given = URL.canParse(url) ? new URL(url) : undefined;
  if (!given || !['http:', 'https:'].includes(given.protocol)) {
    throw new WhetstoneError('otlp-unreachable', `${JSON.stringify(url)} is not the address of a receiver.`, {
      hint: 'Give the address of a collector, such as http://localhost:4318.',
    });
  }
  if (!given.pathname.endsWith('/v1/traces'))
    given.pathname = `${given.pathname.replace(/\/$/, '')}/v1/traces`;
  return given.href;
}

/** Resolves with the number of spans that the receiver did not take. */
async function post(address: string, body: string, { headers = {}, wait }: OtlpTarget): Promise<number> {
  const { host } = new URL(address);
  for (let turn = 1; ; turn++) {
    const response = await fetch(address, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((cause: unknown) => {
      const reason = cause instanceof Error && cause.cause ? messageOf(cause.cause) : messageOf(cause);
      throw new WhetstoneError('otlp-unreachable', `The receiver cannot be reached: ${reason}`, {
        where: host,
        cause,
      });
    });
    const text = await response.text();
    if (response.ok) return rejectedOf(text);
    if (!AGAIN.includes(response.status) || turn === TRIES) {
      throw new WhetstoneError('otlp-refused', `The receiver answered ${response.status}.`, {
        where: address.split('?')[0] ?? host,
      });
    }
    const after = Number(response.headers.get('retry-after') ?? Number.NaN);
    const seconds = Math.min(Number.isFinite(after) ? after : 2 ** (turn - 1), TIMEOUT_MS / 1000);
    await (wait ?? ((time: number) => pause(time * 1000)))(seconds);
  }
}

function rejectedOf(text: string): number {
  try {
    return Number(JSON.parse(text).partialSuccess?.rejectedSpans ?? 0);
  } catch {
    return 0; // an empty answer, or Protobuf: all were taken
  }
}
