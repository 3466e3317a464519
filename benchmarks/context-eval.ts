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
/** Where Debian puts the packages of Python: rich, where `python3` is another Python that lacks it. */
const DEBIAN_PACKAGES = '/usr/lib/python3/dist-packages';
const PYTHONPATH = `${CLONE}:${DEBIAN_PACKAGES}`;
const LIMIT_MS = 300_000;

/**
 * Does what its command `run` does, without the package that reads the command line. Arguments: the configuration, trials
 * and jobs. Writes the same at its end as `probe.ts` does. ru_maxrss is in KiB.
 */
const START = `
import atexit, json, os, resource, sys
from pathlib import Path
def write():
    use = resource.getrusage(resource.RUSAGE_SELF)
    with open(os.environ['WHETSTONE_BENCHMARK_PROBE'], 'w') as file:
        json.dump({'cpuSeconds': use.ru_utime + use.ru_stime, 'peakBytes': use.ru_maxrss * 1024}, file)
atexit.register(write)
from context_eval.config import validate_config_files
from context_eval.runner import ContextEvalRunner
config, tasks = validate_config_files(Path(sys.argv[1]), None)
ContextEvalRunner(
    config=config, tasks=tasks, trials=int(sys.argv[2]), jobs=int(sys.argv[3]),
    cleanup_policy=ContextEvalRunner.resolve_cleanup_policy(cleanup=True, cleanup_policy=None),
).run()
`;

/**
 * context-eval over the repository, the tasks and the variants of `makeMatrix` in `directory`. Clones it into
 * `.cache/context-eval` if it is missing, and runs its source with the packages that python3 has.
 */
export function openContextEval(directory: string, trials: number, say: (line: string) => void): Peer {
  try {
    if (!existsSync(CLONE)) clone(say);
    run('python3', '-c', 'import context_eval.runner');
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
  return {
    kind: 'ready',
    name: `context-eval ${versionOf(join(CLONE, 'pyproject.toml'))}`,
    measure: () =>
      measureProgram(['python3', '-c', START, 'context-eval.yaml', String(trials), '2'], {
        cwd: directory,
        env: { PYTHONPATH },
      }),
  };
}

function clone(say: (line: string) => void): void {
  say('cloning context-eval into .cache/context-eval');
  run('git', 'clone', '--quiet', SOURCE, CLONE);
  run('git', '-C', CLONE, 'checkout', '--quiet', COMMIT);
}

/** Fails with what the program says. */
function run(file: string, ...args: string[]): void {
  const env = { ...process.env, PYTHONPATH };
  execFileSync(file, args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: LIMIT_MS, env });
}

function versionOf(file: string): string {
  return /^version = "(.+)"$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? '';
}
