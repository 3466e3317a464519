/** JSON text without lone surrogates, raw or escaped: a provider refuses every later request with one. */
export function wellFormedJson(text: string): string {
  const raw = text.toWellFormed();
  if (!/\\u[dD][89a-fA-F]/.test(raw)) return raw;
  try {
    return JSON.stringify(JSON.parse(raw), (_key, value: unknown) =>
      typeof value === 'string' ? value.toWellFormed() : isRecord(value) ? wellFormedKeys(value) : value,
    );
  } catch {
    return raw.replaceAll(/\\u[dD][89a-fA-F][\da-fA-F]{2}/g, '\\ufffd');
  }
}

function wellFormedKeys(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key.toWellFormed(), entry]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
