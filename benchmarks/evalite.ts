import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '@whetstone/errors';
import { installPackages } from './install-packages.ts';
import { measureNode } from './measured-process.ts';
import type { Peer } from './peer.ts';

/**
 * The preview of version 1 keeps its results in memory. Version 0.19 keeps them in better-sqlite3, whose native part comes
 * from GitHub or a compiler, and from no package.
 */
const VERSION = '1.0.0-beta.16';
const PACKAGES = [`evalite@${VERSION}`, 'vitest@4.1.4'];
const PEERS = join(import.meta.dirname, '../.cache/evalite');
const PROGRAM = join(PEERS, 'node_modules/evalite/dist/bin.js');

const EVALS = (rows: number) => `
import { evalite } from 'evalite';
evalite('noop', {
  data: () => Array.from({ length: ${rows} }, (_, index) => ({ input: String(index), expected: 'finished' })),
  task: async () => 'finished',
  scorers: [{ name: 'same', scorer: ({ output, expected }) => (output === expected ? 1 : 0) }],
});
`;

/** Runs evalite over `rows` rows whose task is a function. Installs it into `.cache/evalite` if it is missing. */
export function openEvalite(directory: string, rows: number, say: (line: string) => void): Peer {
  const name = `evalite ${VERSION}`;
  try {
    if (!existsSync(PROGRAM)) {
      say('installing evalite into .cache/evalite (90 MB)');
      // Its peers are the database, which it only loads on demand, and an SDK of models.
      installPackages(PEERS, PACKAGES, ['--legacy-peer-deps']);
    }
    symlinkSync(join(PEERS, 'node_modules'), join(directory, 'node_modules'));
    writeFileSync(join(directory, 'package.json'), '{ "type": "module" }\n');
    writeFileSync(join(directory, 'noop.eval.ts'), EVALS(rows));
    return {
      kind: 'ready',
      name,
      measure: () => measureNode([PROGRAM, 'run'], { cwd: directory, env: { CI: '1' } }),
    };
  } catch (error) {
    return { kind: 'missing', name, reason: messageOf(error).split('\n', 1)[0] ?? '' };
  }
}
