import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type HostRule, ruleFor } from './host-rule.ts';
import { refusedAddress } from './refused-address.ts';

/**
 * The requests of commands to a host. `refused`: why none of them went out, in words; absent: they did. `by`: whose they
 * were.
 */
export type HostRequest = { host: string; port: number; count: number; refused?: string; by?: 'setup' };

export type HostProxy = {
  /** Takes a connection of a command over. */
  accept(socket: Socket): void;
  /** Hosts in the order of their first requests, at most 200. */
  readonly requests: readonly HostRequest[];
  /** Ends all connections. */
  close(): void;
};

/** More of them are not evidence but a way to fill a disk. */
const MOST_HOSTS = 200;

type LookUp = (host: string) => Promise<LookupAddress[]>;

/**
 * A proxy for HTTP and for tunnels that lets commands reach the hosts of some rules. It looks a name up itself, once for each
 * connection, and connects to the addresses that it has checked. Where this process has to use a proxy for a host
 * (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`), so does this one: then that proxy looks the name up. `lookUp`: default, as this
 * machine does. `check`: default `refusedAddress`.
 */
export async function openHostProxy(
  rules: readonly HostRule[],
  {
    by,
    lookUp = (host) => lookup(host, { all: true }),
    check = refusedAddress,
  }: { by?: 'setup'; lookUp?: LookUp; check?: typeof refusedAddress } = {},
): Promise<HostProxy> {
  const [{ Server, RequestError }, { getProxyForUrl }] = await Promise.all([
    import('proxy-chain'),
    import('proxy-from-env'),
  ]);
  const requests = new Map<string, HostRequest>();

  function note(host: string, port: number, refused: string | undefined): void {
    const name = host.slice(0, 253).replaceAll(/[^\w.:[\]-]/g, '?');
    const key = `${name}:${port} ${refused}`;
    const known = requests.get(key);
    if (known) known.count += 1;
    else if (requests.size < MOST_HOSTS) {
      const request = { host: name, port, count: 1, ...(refused && { refused }), ...(by && { by }) };
      requests.set(key, request);
    }
  }

  async function addressesOf(host: string, rule: HostRule): Promise<LookupAddress[] | string> {
    const found = await lookUp(host).catch(() => []);
    if (found.length === 0) return 'it has no address';
    const refused = found.map(({ address }) => check(address, { isNamedInFull: !rule.below }));
    const reason = refused.find((one) => one !== undefined);
    return reason === undefined ? found : `it is ${reason}`;
  }

  const server = new Server({
    async prepareRequestFunction({ request, hostname: host, port, isHttp }) {
      const refuse = (reason: string): never => {
        note(host, port, reason);
        throw new RequestError(`${host}:${port} cannot be reached from this sandbox: ${reason}.\n`, 403);
      };
      const rule = ruleFor(rules, host, port) ?? refuse('it is not listed in `sandbox.hosts`');
      if (isHttp) restoreHost(request, host, port);
      const upstreamProxyUrl = getProxyForUrl(`${isHttp ? 'http' : 'https'}://${host}:${port}`);
      if (upstreamProxyUrl !== '') {
        note(host, port, undefined);
        return { upstreamProxyUrl };
      }
      const found = await addressesOf(host, rule);
      const addresses = typeof found === 'string' ? refuse(found) : found;
      note(host, port, undefined);
      const [first] = addresses;
      return {
        // Whoever looks the name up again could get another address.
        dnsLookup: ((_host: string, options: { all?: boolean }, done: (...result: unknown[]) => void) =>
          options.all
            ? done(null, addresses)
            : done(null, first?.address, first?.family)) as typeof import('node:dns')['lookup'],
      };
    },
  });
  return {
    accept: (socket) => void server.server.emit('connection', socket),
    get requests() {
      return [...requests.values()];
    },
    close: () => server.closeConnections(),
  };
}

/** One host could serve another that is not listed, so what a request says of its host is what was checked. */
function restoreHost({ rawHeaders }: IncomingMessage, host: string, port: number): void {
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() === 'host') rawHeaders[at + 1] = port === 80 ? host : `${host}:${port}`;
}
