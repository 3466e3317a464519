import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '@whetstone/errors';
import { installPackages } from './install-packages.ts';
import { SMALLEST_AGENT } from './matrix.ts';
import { measureNode } from './measured-process.ts';
import type { Peer } from './peer.ts';

const VERSION = '0.123.1';
/** The native part of its database client. The other optional dependencies are SDKs of model providers. */
const DATABASE = `@libsql/linux-${process.arch}-gnu@0.5.29`;
const PEERS = join(import.meta.dirname, '../.cache/peers');
const PROGRAM = join(PEERS, 'node_modules/promptfoo/dist/src/entrypoint.js');

const AGENT = `set -e
copy=$(mktemp -d)
cp -a repository/. "$copy"
(cd "$copy" && ${SMALLEST_AGENT})
rm -rf "$copy"
echo finished
`;

/**
 * Runs `promptfoo eval` over `tests` tests. Their provider copies `directory`/repository and runs the smallest agent in
 * the copy. Installs promptfoo into `.cache/peers` if it is missing.
 */
export function openPromptfoo(directory: string, tests: number, say: (line: string) => void): Peer {
  try {
    if (!existsSync(PROGRAM)) {
      say('installing promptfoo into .cache/peers (280 MB)');
      installPackages(PEERS, [`promptfoo@${VERSION}`, DATABASE], ['--omit=optional']);
    }
    writeFileSync(join(directory, 'agent.sh'), AGENT);
    const config = {
      prompts: ['{{task}}'],
      providers: ['exec: sh agent.sh'],
      tests: Array.from({ length: tests }, (_, index) => ({
        vars: { task: `Append a line to README.md. (${index + 1})` },
        assert: [{ type: 'contains', value: 'finished' }],
      })),
    };
    writeFileSync(join(directory, 'promptfooconfig.json'), JSON.stringify(config));
    const options = [
      '-c',
      'promptfooconfig.json',
      '-j',
      '2',
      '--no-cache',
      '--no-table',
      '--no-progress-bar',
    ];
    const env = {
      CI: '1',
      PROMPTFOO_CONFIG_DIR: join(directory, 'promptfoo'),
      PROMPTFOO_DISABLE_TELEMETRY: '1',
      PROMPTFOO_DISABLE_UPDATE: '1',
    };
    return {
      kind: 'ready',
      name: `promptfoo ${VERSION}`,
      measure: () => measureNode([PROGRAM, 'eval', ...options], { cwd: directory, env }),
    };
  } catch (error) {
    const [reason = ''] = messageOf(error).split('\n');
    return { kind: 'missing', name: 'promptfoo', reason };
  }
}
