import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';

export type Reply = { status: number; headers: IncomingHttpHeaders; body: string };

/** Sends to the server of `url`. `path` goes out as it is: nothing resolves `..` in it. */
export async function send(
  url: string,
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Reply> {
  const { hostname, port } = new URL(url);
  const sent = request({ hostname, port, path, method, headers });
  sent.end();
  const [response] = await once(sent, 'response');
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

/** The cookie that a URL with a token gives; empty when it gives none. */
export async function cookieFrom(url: string): Promise<string> {
  const { headers } = await send(url, `/${new URL(url).search}`);
  return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
}
