import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { RunOptions, SandboxLevel } from '../sandbox.ts';
import { type HostProxy, type HostRequest, openHostProxy } from './host-proxy.ts';
import { type HostRule, readHostRule } from './host-rule.ts';

/** The hosts that commands of a provider reach. `setup`: those of commands that no agent chose; absent: all, as this machine. */
export type Hosts = { rules: readonly HostRule[]; setup?: readonly HostRule[] };

/** The ways out of a sandbox to listed hosts. */
export type HostDoors = {
  /** The ports of its doors. */
  ports: ReadonlyMap<number, (socket: Socket) => void>;
  /** Variables with which programs find the proxy. */
  env: Readonly<Record<string, string>>;
  /** The same for commands that no agent chose, in a network of their own. Absent: they have that of this machine. */
  setup?: Pick<HostDoors, 'ports' | 'env'>;
  /** `undefined`: no host is listed. */
  requests(): readonly HostRequest[] | undefined;
  close(): void;
};

/** Where proxies usually listen. In a network of its own every port is free but those of the other doors. */
const PORTS = [3128, 3129];

/** @throws TypeError for an entry that is not a host */
export function hostsOf(hosts: readonly string[] = [], setupHosts?: readonly string[]): Hosts {
  const rules = hosts.map(ruleOf);
  return { rules, ...(setupHosts && { setup: [...rules, ...setupHosts.map(ruleOf)] }) };
}

function ruleOf(text: string): HostRule {
  const rule = readHostRule(text);
  if ('problem' in rule) throw new TypeError(`The host ${JSON.stringify(text)} ${rule.problem}.`);
  return rule;
}

/** Opens the proxies of a sandbox beside its other doors. */
export async function openHostDoors(
  { rules, setup }: Hosts,
  ports: ReadonlyMap<number, (socket: Socket) => void> = new Map(),
): Promise<HostDoors> {
  const port = PORTS.find((one) => !ports.has(one)) ?? 0;
  const proxies: HostProxy[] = [];
  const open = async (list: readonly HostRule[], by?: 'setup'): Promise<Pick<HostDoors, 'ports' | 'env'>> => {
    const proxy = await openHostProxy(list, by && { by });
    proxies.push(proxy);
    return { ports: new Map([...ports, [port, proxy.accept]]), env: proxyVariables(port) };
  };
  const own = rules.length === 0 ? { ports, env: {} } : await open(rules);
  const wider = setup && (await open(setup, 'setup'));
  return {
    ...own,
    ...(wider && { setup: wider }),
    requests: () => (proxies.length === 0 ? undefined : proxies.flatMap(({ requests }) => requests)),
    close() {
      for (const proxy of proxies) proxy.close();
    },
  };
}

/** How a level describes it. */
export const networkOf = ({
  hosts = [],
  setupHosts,
}: {
  hosts?: readonly string[];
  setupHosts?: readonly string[];
}): Pick<SandboxLevel, 'network' | 'hosts' | 'setupHosts'> => ({
  network: hosts.length === 0 ? 'gateway-only' : 'gateway-and-hosts',
  ...(hosts.length > 0 && { hosts }),
  ...(setupHosts && { setupHosts }),
});

/**
 * The variables of a command in a sandbox with the variables `own`. The proxy of this machine is none of a command that
 * reaches only listed hosts, whatever its variables say, and that of the sandbox none of a command on this machine's network.
 */
export function throughProxy(
  own: Readonly<Record<string, string>>,
  { network, env = {} }: Pick<RunOptions, 'network' | 'env'>,
  ways: HostDoors | undefined,
): Record<string, string> {
  if (network !== 'open' || !ways) return { ...own, ...env };
  if (!ways.setup) return { ...without(own, (name) => own[name] === ways.env[name]), ...env };
  const others = /(?:^|_)(?:no_?)?proxy$/i;
  return { ...without({ ...own, ...env }, (name) => others.test(name)), ...ways.setup.env };
}

const without = (
  env: Readonly<Record<string, string>>,
  isLeftOut: (name: string) => boolean,
): Record<string, string> => Object.fromEntries(Object.entries(env).filter(([name]) => !isLeftOut(name)));

/**
 * Variables with which programs find a proxy at a port of 127.0.0.1. They read them in small or in capital letters. Node.js
 * only reads them if it is told to.
 */
export function proxyVariables(port: number): Record<string, string> {
  const url = `http://127.0.0.1:${port}`;
  const own = 'localhost,127.0.0.1,::1';
  const variables = { http_proxy: url, https_proxy: url, all_proxy: url, no_proxy: own };
  const capitals = Object.entries(variables).map(([name, value]) => [name.toUpperCase(), value]);
  return { ...variables, ...Object.fromEntries(capitals), NODE_USE_ENV_PROXY: '1' };
}

/** Certificates that the user's programs trust beside the system's, as behind a proxy that looks into connections. */
const CERTIFICATES = [
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO'],
  ...['PIP_CERT', 'NPM_CONFIG_CAFILE'],
];

/** The variables that name such files, where hosts are listed; the files have to be shown. */
export function certificateVariables(
  { rules }: Hosts,
  parent: NodeJS.ProcessEnv,
): Readonly<Record<string, string>> {
  if (rules.length === 0) return {};
  const found = CERTIFICATES.flatMap((name) => {
    const path = parent[name];
    return path?.startsWith('/') && existsSync(path) ? [[name, path]] : [];
  });
  return Object.fromEntries(found);
}
