import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { installPacked } from '../install-packed.ts';
import { runNode } from '../run-node.ts';
import { PEERS_FOLDER } from './import-peer.ts';

/** The programs that measure, and what they import. */
const FILES = [
  ...['loop/cold-program', 'loop/converse-program', 'loop/repeat-program', 'process-use'],
  ...['loop/converses', 'loop/import-peer', 'loop/fake-model', 'loop/work'],
  ...['loop/converse-ai', 'loop/converse-bare', 'loop/converse-pi', 'loop/converse-whetstone'],
];

/**
 * Runs one of the programs that measure with the packages as they are published, and without a compile cache: what users
 * have, and the same for our loop and for its peers.
 */
export type RunPublished = <T>(
  program: 'cold' | 'converse' | 'repeat',
  args: readonly (string | number)[],
  flags?: readonly string[],
  /** Default: the Node of this process. */
  node?: string,
) => Promise<T>;

/** Packs and installs the packages into `folder`, with the programs beside them, without their types. */
export function installPublished(folder: string): RunPublished {
  installPacked(folder);
  const programs = join(folder, 'user/programs');
  mkdirSync(join(programs, 'loop'), { recursive: true });
  for (const name of FILES) {
    const source = readFileSync(join(import.meta.dirname, '..', `${name}.ts`), 'utf8');
    const script = stripTypeScriptTypes(source).replaceAll(/(['"]\.\.?\/[\w-]+)\.ts\b/g, '$1.js');
    writeFileSync(join(programs, `${name}.js`), script);
  }
  writeFileSync(join(programs, 'package.json'), '{ "type": "module" }\n');
  return (program, args, flags = [], node = process.execPath) =>
    runNode(join(programs, 'loop', `${program}-program.js`), args, {
      cwd: folder,
      flags,
      node,
      env: { LOOP_PEERS: PEERS_FOLDER, NODE_DISABLE_COMPILE_CACHE: '1' },
    });
}
