import { isJsonObject } from '@whetstone/events';

/** JSON text without lone surrogates, raw or escaped: a provider refuses every later request with one. */
export function wellFormedJson(text: string): string {
  const raw = text.toWellFormed();
  if (!/\\u[dD][89a-fA-F]/.test(raw)) return raw;
  try {
    return JSON.stringify(JSON.parse(raw), (_key, value: unknown) =>
      typeof value === 'string' ? value.toWellFormed() : isJsonObject(value) ? wellFormedKeys(value) : value,
    );
  } catch {
    return raw.replaceAll(/\\u[dD][89a-fA-F][\da-fA-F]{2}/g, '\\ufffd');
  }
}

function wellFormedKeys(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key.toWellFormed(), entry]));
}
