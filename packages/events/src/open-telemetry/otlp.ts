/**
 * Spans in the JSON of the OpenTelemetry protocol (`ExportTraceServiceRequest`, OTLP 1.x): ids in lower-case hexadecimal,
 * 64-bit numbers as decimal strings, enumerations as numbers. A collector accepts it by POST to `/v1/traces`.
 */
export type OtlpTraces = { resourceSpans: OtlpResourceSpans[] };

export type OtlpResourceSpans = {
  resource: { attributes: OtlpAttribute[] };
  scopeSpans: { scope: { name: string }; spans: OtlpSpan[] }[];
};

export type OtlpSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: typeof SPAN_KIND_INTERNAL | typeof SPAN_KIND_CLIENT;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: OtlpAttribute[];
  events?: { timeUnixNano: string; name: string; attributes: OtlpAttribute[] }[];
  status?: { code: typeof STATUS_ERROR; message?: string };
};

export type OtlpAttribute = { key: string; value: { stringValue: string } | { intValue: string } };

export const SPAN_KIND_INTERNAL = 1;
export const SPAN_KIND_CLIENT = 3;
export const STATUS_ERROR = 2;

/** Attributes in the given order, without those that have no value. Numbers are whole. */
export function attributes(values: Record<string, string | number | undefined>): OtlpAttribute[] {
  return Object.entries(values).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return [{ key, value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) } }];
  });
}

/** Milliseconds since 1970 as unsigned nanoseconds. */
export function unixNano(milliseconds: number): string {
  return String(BigInt(Math.max(0, Math.round(milliseconds))) * 1_000_000n);
}
