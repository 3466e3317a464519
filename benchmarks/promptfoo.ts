import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '@whetstone/errors';
import { installPromptfoo, PROMPTFOO_VERSION } from './install-promptfoo.ts';
import { SMALLEST_AGENT } from './matrix.ts';
import { measureNode } from './measured-process.ts';
import type { Peer } from './peer.ts';

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
  writeFileSync(join(directory, 'agent.sh'), AGENT);
  return openProvider('exec: sh agent.sh', { directory, tests, say });
}

const PROVIDER = `
export default class {
  id = () => 'noop';
  callApi = async () => ({ output: 'finished' });
}
`;

/** The same with a provider that is a function in the process of promptfoo and answers at once. */
export function openPromptfooProvider(directory: string, tests: number, say: (line: string) => void): Peer {
  writeFileSync(join(directory, 'provider.mjs'), PROVIDER);
  return openProvider('file://provider.mjs', { directory, tests, say });
}

function openProvider(
  provider: string,
  { directory, tests, say }: { directory: string; tests: number; say: (line: string) => void },
): Peer {
  try {
    const program = installPromptfoo(say);
    const config = {
      prompts: ['{{task}}'],
      providers: [provider],
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
      name: `promptfoo ${PROMPTFOO_VERSION}`,
      measure: () => measureNode([program, 'eval', ...options], { cwd: directory, env }),
    };
  } catch (error) {
    const [reason = ''] = messageOf(error).split('\n');
    return { kind: 'missing', name: 'promptfoo', reason };
  }
}
