import { randomBytes } from 'node:crypto';

/**
 * Arguments and variables that make Codex report its own spans to an OTLP endpoint, as children of a span of the turn.
 * Prompts are left out of the spans.
 */
export function tracing(endpoint: string): { args: string[]; env: Record<string, string> } {
  const exporter = `{ otlp-http = { endpoint = ${JSON.stringify(endpoint)}, protocol = "json" } }`;
  const ids = { trace: randomBytes(16).toString('hex'), span: randomBytes(8).toString('hex') };
  return {
    args: ['-c', `otel.trace_exporter=${exporter}`, '-c', 'otel.log_user_prompt=false'],
    env: {
      TRACEPARENT: `00-${ids.trace}-${ids.span}-01`,
      OTEL_SERVICE_NAME: 'codex-app-server',
    },
  };
}

/** The trace that a process was started in. */
export function traceOf({ TRACEPARENT = '' }: Readonly<Record<string, string>>) {
  const [, traceId, spanId] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-/.exec(TRACEPARENT) ?? [];
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId };
}
