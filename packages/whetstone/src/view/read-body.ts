import type { IncomingMessage } from 'node:http';

const MOST_BYTES = 4 * 1024 * 1024;

/** The JSON body of a request; `undefined` where it is not JSON or too large. */
export async function readJsonBody(request: IncomingMessage): Promise<{ value: unknown } | undefined> {
  if (!/^application\/json(?:;|$)/.test(request.headers['content-type'] ?? '')) return undefined;
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MOST_BYTES) return undefined;
    parts.push(part);
  }
  try {
    return { value: JSON.parse(Buffer.concat(parts).toString()) };
  } catch {
    return undefined;
  }
}
