import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { cookieFrom, type Reply, send } from './http.ts';

/** What a page that was opened by its address has: the cookie, and the key in the address that it is sent to. */
export type Visitor = { url: string; cookie: string; key: string };

export async function visit(url: string): Promise<Visitor> {
  const { headers } = await send(url, `/${new URL(url).search}`);
  const key = new URL(headers.location ?? '', url).searchParams.get('key') ?? '';
  return { url, cookie: await cookieFrom(url), key };
}

/** Posts as the page does; `headers` replace its own, and an empty one is left out. */
export async function post(
  { url, cookie, key }: Visitor,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const { hostname, port, origin } = new URL(url);
  const own = { cookie, origin, 'x-whetstone-key': key, 'content-type': 'application/json', ...headers };
  const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== ''));
  const sent = request({ hostname, port, path, method: 'POST', headers: given, agent: false });
  sent.end(typeof body === 'string' ? body : JSON.stringify(body));
  const [response] = await once(sent, 'response');
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}
