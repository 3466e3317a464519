import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { tryInstall } from '../install-packages.ts';

/** The `engines` of our packages: in 22.18, V8 does not use Maglev, its middle compiler. */
const VERSION = '22.18.0';
const FOLDER = join(import.meta.dirname, '../../.cache', `node-${VERSION}`);

export type OldestNode = { version: string; path: string };

/** Installs the oldest supported Node into `.cache` if needed. */
export function installOldestNode(say: (line: string) => void): OldestNode | { missing: string } {
  const name = `node-${process.platform}-${process.arch}`;
  const path = join(FOLDER, 'node_modules', name, 'bin/node');
  if (existsSync(path)) return { version: VERSION, path };
  say(`installing Node ${VERSION} into .cache (170 MB)`);
  const missing = tryInstall(FOLDER, [`${name}@${VERSION}`]);
  return missing === undefined ? { version: VERSION, path } : { missing };
}
