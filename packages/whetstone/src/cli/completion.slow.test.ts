import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BIN, makeProgram, makeProject } from './__fixtures__/project.ts';

const isMissing = (program: string): boolean => spawnSync(program, ['--version']).error !== undefined;

const SHELLS = [
  { shell: 'bash', start: 'bash --norc --noprofile -i', setUp: 'true', tags: 'script' },
  { shell: 'zsh', start: 'zsh -f -i', setUp: 'autoload -Uz compinit; compinit -u -D', tags: 'zsh' },
  { shell: 'fish', start: 'fish --no-config -i', setUp: 'true', tags: 'fish' },
];

for (const { shell, start, setUp, tags } of SHELLS) {
  test.skipIf(isMissing('script') || isMissing(shell))(`${shell} completes on TAB`, { tags }, () => {
    completesOnTab(shell, start, setUp);
  });
}

function completesOnTab(shell: string, start: string, setUp: string): void {
  using project = makeProject({ config: { variants: { baseline: {}, 'with-rules': {} } } });
  const bin = join(project.root, 'bin');
  makeProgram(
    join(bin, 'whetstone'),
    `case $1 in complete*) exec node ${BIN} "$@";; esac; for word do echo "ARG=$word"; done`,
  );
  project.write({ 'whetstone-data.json': '{}' });
  const script = join(project.root, `completion.${shell}`);
  makeProgram(script, spawnSync(process.execPath, [BIN, 'completion', shell]).stdout.toString());
  const typed = [
    setUp,
    `source ${script}`,
    'whetstone validate-c\t--str\t',
    'whetstone run --variant w\t--config whetstone-d\t',
    'exit\n',
  ].join('\n');
  const { stdout } = spawnSync('script', ['-qec', start, '/dev/null'], {
    cwd: project.root,
    input: typed,
    env: { PATH: `${bin}:${process.env.PATH}`, HOME: project.root, TERM: 'dumb', LANG: 'C.UTF-8' },
    timeout: 60_000,
  });
  const words = [...stdout.toString().matchAll(/^ARG=(\S+?)\r?$/gm)].map(([, word]) => word);
  expect(words, stdout.toString()).toEqual([
    'validate-config',
    '--strict',
    'run',
    '--variant',
    'with-rules',
    '--config',
    'whetstone-data.json',
  ]);
}
