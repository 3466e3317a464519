import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { tryInstall } from '../install-packages.ts';

/** The last release of pi's loop under its first name, and the current release of the AI SDK. */
export const PEER_VERSIONS = { '@mariozechner/pi-agent-core': '0.73.1', ai: '7.0.173' };
const FOLDER = join(import.meta.dirname, '../../.cache/loop-peers');

/** Installs the peers into `.cache/loop-peers` if needed. Returns the reason when that fails. */
export function installPeers(say: (line: string) => void): string | undefined {
  const wanted = Object.entries(PEER_VERSIONS);
  if (wanted.every(([name, version]) => installedVersion(name) === version)) return undefined;
  say('installing pi-agent-core and ai into .cache/loop-peers (150 MB)');
  const packages = wanted.map(([name, version]) => `${name}@${version}`);
  return tryInstall(FOLDER, packages, ['--omit=optional']);
}

/** A package of the peers' folder. `T` is the part that the caller uses; it is not checked. */
export async function importPeer<T>(name: string): Promise<T> {
  return await import(pathToFileURL(join(FOLDER, 'node_modules', name, 'dist/index.js')).href);
}

function installedVersion(name: string): string | undefined {
  const manifest = join(FOLDER, 'node_modules', name, 'package.json');
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined;
}
