import type { Mask } from '@whetstone/sandbox';

/** A JSON value with secrets masked in every text. Names of fields stay as they are. */
export function maskValues<Value>(value: Value, mask: Mask): Value;
export function maskValues(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return mask.text(value);
  if (Array.isArray(value)) return value.map((item) => maskValues(item, mask));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, maskValues(item, mask)]));
}
