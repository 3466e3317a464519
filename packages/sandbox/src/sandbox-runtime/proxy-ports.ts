import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type HostDoors, type Hosts, proxyVariables } from '../hosts/host-doors.ts';
import { openHostProxy } from '../hosts/host-proxy.ts';
import type { HostRule } from '../hosts/host-rule.ts';

/** Proxies for listed hosts at ports of this machine. `undefined`: no host is listed. */
export type ProxyPorts = { own: number | undefined; setup: number | undefined; ways: HostDoors };

/** `seenAt`: the port at which commands see a proxy that listens at `port`. */
export async function openProxyPorts(
  { rules, setup }: Hosts,
  seenAt: (port: number) => number,
): Promise<ProxyPorts> {
  const opened: Awaited<ReturnType<typeof open>>[] = [];
  const openOne = async (list: readonly HostRule[], by?: 'setup') => {
    const one = await open(list, by);
    opened.push(one);
    return one.port;
  };
  const own = rules.length === 0 ? undefined : await openOne(rules);
  const wider = setup && setup.length > 0 ? await openOne(setup, 'setup') : undefined;
  const waysTo = (port: number | undefined) => ({
    ports: new Map(),
    env: port === undefined ? {} : proxyVariables(seenAt(port)),
  });
  return {
    own,
    setup: wider,
    ways: {
      ...waysTo(own),
      setup: waysTo(wider ?? own),
      requests: () => (opened.length === 0 ? undefined : opened.flatMap(({ proxy }) => proxy.requests)),
      close() {
        for (const { proxy, server } of opened) {
          proxy.close();
          server.close();
        }
      },
    },
  };
}

async function open(rules: readonly HostRule[], by?: 'setup') {
  const proxy = await openHostProxy(rules, by && { by });
  const server = createServer(proxy.accept).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { proxy, server, port: (server.address() as AddressInfo).port };
}
