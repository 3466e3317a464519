import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tryInstall } from '../install-packages.ts';
import { PEERS_FOLDER } from './import-peer.ts';

/**
 * The newest release of pi's loop that can be installed (later ones need packages that are not published), the last one
 * under its first name, and the newest release of the AI SDK.
 */
export const PEER_VERSIONS = {
  '@earendil-works/pi-agent-core': '0.87.1',
  '@mariozechner/pi-agent-core': '0.73.1',
  ai: '7.0.173',
};

/** Installs the peers into `.cache/loop-peers` if needed. Returns the reason when that fails. */
export function installPeers(say: (line: string) => void): string | undefined {
  const wanted = Object.entries(PEER_VERSIONS);
  if (wanted.every(([name, version]) => installedVersion(name) === version)) return undefined;
  say('installing pi-agent-core and ai into .cache/loop-peers (150 MB)');
  const packages = wanted.map(([name, version]) => `${name}@${version}`);
  return tryInstall(PEERS_FOLDER, packages, ['--omit=optional']);
}

function installedVersion(name: string): string | undefined {
  const manifest = join(PEERS_FOLDER, 'node_modules', name, 'package.json');
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined;
}
