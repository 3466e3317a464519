import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { installPackages } from './install-packages.ts';

export const PROMPTFOO_VERSION = '0.123.1';
/** Native parts: of its database client, and of what it loads TypeScript with. Other optional dependencies are SDKs of model providers. */
const ESBUILD = '0.28.2';
const NATIVE = [
  `@libsql/linux-${process.arch}-gnu@0.5.29`,
  `esbuild@${ESBUILD}`,
  `@esbuild/linux-${process.arch}@${ESBUILD}`,
];
const PEERS = join(import.meta.dirname, '../.cache/peers');
const LOADER = join(PEERS, `node_modules/@esbuild/linux-${process.arch}`);
const PROGRAM = join(PEERS, 'node_modules/promptfoo/dist/src/entrypoint.js');

/** Installs promptfoo into `.cache/peers` if it is missing. Returns its program, a file for Node. */
export function installPromptfoo(say: (line: string) => void): string {
  if (!existsSync(PROGRAM) || !existsSync(LOADER)) {
    say('installing promptfoo into .cache/peers (280 MB)');
    installPackages(PEERS, [`promptfoo@${PROMPTFOO_VERSION}`, ...NATIVE], ['--omit=optional']);
  }
  return PROGRAM;
}
