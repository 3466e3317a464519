import type { Agent } from 'node:http';
import { http, https } from '../node-http.ts';

/**
 * A lane's connections to its providers, kept open between calls. Connects through the proxy in `HTTPS_PROXY` or `HTTP_PROXY` (capital or small letters), except to hosts in `NO_PROXY`
 * and to this machine, where local providers run. Node.js reads these variables since 22.21 and 24.5.
 */
export function openConnections() {
  const direct = agents({});
  const proxied = agents({ proxyEnv: process.env });
  return {
    agentFor(url: URL): Agent {
      const agents = isLoopback(url.hostname) ? direct : proxied;
      return agents[url.protocol === 'https:' ? 'https:' : 'http:'];
    },
    close(): void {
      for (const agent of [...Object.values(direct), ...Object.values(proxied)]) agent.destroy();
    },
  };
}

const agents = (options: { proxyEnv?: NodeJS.ProcessEnv }): Record<'http:' | 'https:', Agent> => ({
  'http:': new http.Agent({ keepAlive: true, ...options }),
  'https:': new https.Agent({ keepAlive: true, ...options }),
});

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
