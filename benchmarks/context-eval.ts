import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '@whetstone/errors';
import { SMALLEST_AGENT } from './matrix.ts';
import { measureProgram } from './measured-process.ts';
import type { Peer } from './peer.ts';

/** It is not in a package registry. Version 0.1.3. */
const SOURCE = 'https://github.com/JasonxzWen/context-eval';
const COMMIT = '6029e96bcca9c3665244801225f9977c30ce89e1';
const CACHE = join(import.meta.dirname, '../.cache');
const CLONE = join(CACHE, 'context-eval');
const ENVIRONMENT = join(CACHE, 'context-eval-venv');
const PYTHON = join(ENVIRONMENT, 'bin/python');
const LIMIT_MS = 300_000;

/** Writes the same at its end as `probe.ts` does. ru_maxrss is in KiB. */
const START = `
import atexit, json, os, resource
def write():
    use = resource.getrusage(resource.RUSAGE_SELF)
    with open(os.environ['WHETSTONE_BENCHMARK_PROBE'], 'w') as file:
        json.dump({'cpuSeconds': use.ru_utime + use.ru_stime, 'peakBytes': use.ru_maxrss * 1024}, file)
atexit.register(write)
from context_eval.cli import app
app()
`;

/**
 * context-eval over the repository, the tasks and the variants of `makeMatrix` in `directory`. Clones it into
 * `.cache/context-eval` and installs it with python3 beside it if it is missing.
 */
export function openContextEval(directory: string, trials: number, say: (line: string) => void): Peer {
  try {
    if (!existsSync(PYTHON)) install(say);
  } catch (error) {
    const [first = ''] = messageOf(error).split('\n');
    // The results name no folder of a machine.
    const reason = first.replaceAll(CACHE, '.cache');
    return { kind: 'missing', name: 'context-eval', reason };
  }
  const config = {
    repo: { path: 'repository' },
    agents: { appender: { kind: 'custom', command: SMALLEST_AGENT } },
    tasks: 'tasks.yaml',
    variants: {
      plain: { overlays: [] },
      ruled: { overlays: [{ source: 'AGENTS.md', target: 'AGENTS.md' }] },
    },
    evaluation: { commands: ['true'] },
    output_dir: 'context-eval-runs',
  };
  writeFileSync(join(directory, 'context-eval.yaml'), JSON.stringify(config));
  const options = ['--trials', String(trials), '--jobs', '2', '--cleanup'];
  return {
    kind: 'ready',
    name: `context-eval ${versionOf(join(CLONE, 'pyproject.toml'))}`,
    measure: () =>
      measureProgram([PYTHON, '-c', START, 'run', '-c', 'context-eval.yaml', ...options], { cwd: directory }),
  };
}

function install(say: (line: string) => void): void {
  say('installing context-eval into .cache/context-eval');
  const run = (file: string, ...args: string[]) =>
    execFileSync(file, args, { stdio: 'ignore', timeout: LIMIT_MS });
  if (!existsSync(CLONE)) {
    run('git', 'clone', '--quiet', SOURCE, CLONE);
    run('git', '-C', CLONE, 'checkout', '--quiet', COMMIT);
  }
  run('python3', '-m', 'venv', ENVIRONMENT);
  run(join(ENVIRONMENT, 'bin/pip'), 'install', '--quiet', CLONE);
}

function versionOf(file: string): string {
  return /^version = "(.+)"$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? '';
}
