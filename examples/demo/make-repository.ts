import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

const SOURCE = join(import.meta.dirname, 'repository');

/** The commits of the demo's library. */
const HISTORY: { message: string; paths: string[] }[] = [
  { message: 'Start the library', paths: ['package.json', 'README.md', 'CHANGELOG.md', 'src/assert.js'] },
  {
    message: 'truncate and wrap',
    paths: ['src/truncate.js', 'src/wrap.js', 'test/truncate.test.js', 'test/wrap.test.js'],
  },
  { message: 'slugify', paths: ['src/slugify.js', 'test/slugify.test.js'] },
  { message: 'Durations', paths: ['src/duration.js', 'test/duration.test.js'] },
  { message: 'Tables', paths: ['src/table.js', 'test/table.test.js'] },
  { message: 'CSV, and one entry point', paths: ['src/csv.js', 'test/csv.test.js', 'src/index.js'] },
];

/** Makes the demo's Git repository in `directory`, always with the same commits. Removes what was in it. */
export function makeRepository(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  git(directory, ['init', '--quiet', '--initial-branch=main']);
  for (const [index, { message, paths }] of HISTORY.entries()) {
    for (const path of paths) {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      cpSync(join(SOURCE, path), join(directory, path));
    }
    git(directory, ['add', '--all']);
    git(directory, ['commit', '--quiet', '--message', message], `2026-01-0${index + 1}T12:00:00Z`);
  }
}

function git(directory: string, args: string[], date?: string): void {
  const identity = { NAME: 'Demo', EMAIL: 'demo@example.invalid' };
  execFileSync('git', ['-C', directory, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      ...Object.fromEntries(
        ['AUTHOR', 'COMMITTER'].flatMap((role) => [
          [`GIT_${role}_NAME`, identity.NAME],
          [`GIT_${role}_EMAIL`, identity.EMAIL],
          ...(date ? [[`GIT_${role}_DATE`, date]] : []),
        ]),
      ),
    },
  });
}
