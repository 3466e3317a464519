import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { AllowsEndpoint } from './endpoints.ts';
import type { LedgerLine } from './ledger.ts';
import type { Route } from './route.ts';
import { RequestError } from './wire/request-error.ts';

/**
 * Refuses requests that a web page could send: a browser puts its page in `Origin`, and a page that rebinds its own
 * name to loopback has that name in `Host`. The port is not compared, because a sandbox may forward another one.
 * @throws RequestError 403
 */
export function checkNotFromBrowser(headers: IncomingHttpHeaders, boundHost: string): void {
  if (headers.origin !== undefined) {
    throw new RequestError(
      403,
      'Requests with an Origin header are refused: the gateway serves no web pages.',
    );
  }
  const host = hostName(headers.host ?? '');
  if (!['127.0.0.1', 'localhost', '::1', boundHost].includes(host)) {
    throw new RequestError(403, `The gateway does not answer to the host "${host}".`);
  }
}

const hostName = (host: string): string => host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');

/**
 * Whether a request carries the lane's key: in any of the providers' headers, in the query as with Gemini, or in the
 * lane's address (`inUrl`). Takes the same time for any key of the same length.
 */
export function hasKey(headers: IncomingHttpHeaders, target: string, key: string, inUrl?: string): boolean {
  const given = [
    inUrl,
    headers.authorization?.replace(/^Bearer +/i, ''),
    headers['x-api-key'],
    headers['api-key'],
    headers['x-goog-api-key'],
    target.includes('?') ? new URLSearchParams(target.split('?', 2)[1]).get('key') : undefined,
  ];
  const wanted = Buffer.from(key);
  const matches = given.map((each) => {
    const bytes = Buffer.from(String(each ?? ''));
    return bytes.length === wanted.length && timingSafeEqual(bytes, wanted);
  });
  return matches.includes(true);
}

/** Which endpoints a lane serves besides the calls of the four wires and lists of models. */
export type EndpointAccess = { allowsEndpoint: AllowsEndpoint; allowsTool: (tool: string) => boolean };

/**
 * Refuses a request to an endpoint that the lane does not serve: the provider's key also opens files, batches and keys
 * of its organisation.
 * @throws RequestError 403
 */
export function checkEndpoint(
  asked: Route,
  line: LedgerLine,
  { allowsEndpoint, allowsTool }: EndpointAccess,
): void {
  const { method, path } = line;
  const what = `The gateway does not serve ${method} ${path}`;
  const refuse = (reason: string): never => {
    line.flags.push('endpoint-refused');
    throw new RequestError(403, `${what}${reason}`);
  };
  if (asked.kind === 'provider-mcp' && !allowsTool('mcp')) {
    line.stripped_tools = ['mcp'];
    refuse(', which is a tool of the provider ("mcp"), and the lane does not allow it.');
  }
  if (asked.kind !== 'other') return;
  const { endpoint } = asked;
  if (endpoint === undefined) {
    refuse(': the path has an encoded or unusual character, or a segment that is empty, "." or "..".');
  } else if (!allowsEndpoint(method, endpoint)) {
    const rule = `"${method} ${endpoint}"`;
    refuse(
      `, only model calls, token counts and lists of models. To allow it: --allow-endpoint ${rule} of ` +
        `"whetstone gateway", allow_endpoints: [${rule}] under "gateway:" of a config, or allowEndpoints of a lane.`,
    );
  }
}
