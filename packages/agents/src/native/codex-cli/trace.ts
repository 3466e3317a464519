import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { httpUrl } from '../../kit/option-values.ts';

/** The option `trace`: where a Codex reports its own spans, over OTLP/HTTP. */
export const traceOption = z.strictObject({ endpoint: httpUrl });

/**
 * What makes Codex report its own spans to an OTLP endpoint, as children of a span of the turn: arguments, the same as
 * settings, and variables. Prompts are left out of the spans.
 */
export function tracing(endpoint: string, kind: string) {
  const exporter = `{ otlp-http = { endpoint = ${JSON.stringify(endpoint)}, protocol = "json" } }`;
  const ids = { trace: randomBytes(16).toString('hex'), span: randomBytes(8).toString('hex') };
  return {
    args: ['-c', `otel.trace_exporter=${exporter}`, '-c', 'otel.log_user_prompt=false'],
    env: { TRACEPARENT: `00-${ids.trace}-${ids.span}-01`, OTEL_SERVICE_NAME: kind },
  };
}

/** The settings of `tracing` for a Codex that takes them as an object. */
export const traceSettings = (endpoint: string) => ({
  otel: { trace_exporter: { 'otlp-http': { endpoint, protocol: 'json' } }, log_user_prompt: false },
});

/** The trace that a process was started in. */
export function traceOf({ TRACEPARENT = '' }: Readonly<Record<string, string>>) {
  const [, traceId, spanId] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-/.exec(TRACEPARENT) ?? [];
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId };
}
