import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { tryInstall } from '../install-packages.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import type { Target } from './calls.ts';
import { kill } from './program.ts';
import { messagesPath } from './request.ts';

export const routerPackage = '@musistudio/claude-code-router';
/** The last version that can be installed: npm lacks dependencies of 3.1.1. */
export const routerVersion = '2.0.0';
const PEERS = join(import.meta.dirname, '../../.cache/gateway-peers');
const PROGRAM = join(PEERS, 'node_modules', routerPackage, 'dist/cli.js');
const START_LIMIT_MS = 30_000;

/** Installs the router into `.cache/gateway-peers` if needed. Returns the reason when that fails. */
export function installRouter(say: (line: string) => void): string | undefined {
  if (existsSync(PROGRAM)) return undefined;
  say(`installing ${routerPackage} into .cache/gateway-peers (12 MB)`);
  return tryInstall(PEERS, [`${routerPackage}@${routerVersion}`]);
}

/**
 * Starts the router in a home of its own, in front of the provider. The provider speaks the client's wire, so the router
 * translates nothing.
 */
export async function startRouter(upstreamUrl: string) {
  const home = temporaryFolder();
  const folder = join(home.path, '.claude-code-router');
  const port = await freePort();
  const config = {
    HOST: '127.0.0.1',
    PORT: port,
    LOG: false,
    APIKEY: 'any',
    NON_INTERACTIVE_MODE: true,
    Providers: [
      {
        name: 'fake',
        api_base_url: `${upstreamUrl}${messagesPath}`,
        api_key: 'any',
        models: ['fake'],
        transformer: { use: ['Anthropic'] },
      },
    ],
    Router: { default: 'fake,fake' },
  };
  mkdirSync(folder);
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  const child = spawn(process.execPath, [PROGRAM, 'start'], {
    env: { ...process.env, HOME: home.path },
    stdio: 'ignore',
  });
  const target: Target = {
    url: `http://127.0.0.1:${port}${messagesPath}`,
    headers: { 'x-api-key': 'any' },
    model: 'fake,fake',
  };
  const router = {
    subject: `claude-code-router ${routerVersion}`,
    pid: Number(child.pid),
    target,
    async [Symbol.asyncDispose]() {
      await kill(child);
      home[Symbol.dispose]();
    },
  };
  if (await answers(port)) return router;
  await router[Symbol.asyncDispose]();
  throw new Error(`${routerPackage} did not answer within ${START_LIMIT_MS / 1000} s.`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(port: number): Promise<boolean> {
  const deadline = performance.now() + START_LIMIT_MS;
  while (performance.now() < deadline) {
    const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    await response?.body?.cancel();
    if (response) return true;
    await pause(50);
  }
  return false;
}
