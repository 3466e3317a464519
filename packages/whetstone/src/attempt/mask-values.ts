import type { Mask } from '@whetstone/sandbox';

/** A JSON value with secrets masked in every text. Names of fields stay as they are. What has no secret is not copied. */
export function maskValues<Value>(value: Value, mask: Mask): Value;
export function maskValues(value: unknown, mask: Mask): unknown {
  if (mask.isEmpty) return value;
  if (typeof value === 'string') return mask.text(value);
  if (typeof value !== 'object' || value === null) return value;
  let masked: Record<string, unknown> | undefined;
  for (const [name, item] of Object.entries(value)) {
    const kept = maskValues(item, mask);
    if (kept === item) continue;
    masked ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
    masked[name] = kept;
  }
  return masked ?? value;
}
