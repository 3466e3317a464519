import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runCommandLine } from '../../packages/whetstone/src/cli/__fixtures__/command-line.ts';
import { makeTempDir } from '../../packages/whetstone/src/workspace/__fixtures__/test-repo.ts';

/** A copy of the examples, in which the tests run them. */
export function copyExamples(more: NodeJS.ProcessEnv = {}) {
  const root = join(makeTempDir(), 'evals');
  cpSync(import.meta.dirname, root, { recursive: true });
  mkdirSync(join(root, 'tmp'));
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: join(root, 'tmp'), ...more };
  return {
    root,
    /** Runs the command line, and resolves with what it printed as JSON. */
    async whetstone(...args: string[]) {
      const { stdout, stderr, exitCode } = await runCommandLine({
        args: [...args, '--json'],
        cwd: root,
        env,
      });
      const printed = stdout.startsWith('{') ? JSON.parse(stdout) : {};
      if (exitCode !== 0 && !printed.runs) throw new Error(stderr + stdout);
      return { exitCode, ...printed };
    },
    remove: () => rmSync(dirname(root), { recursive: true, force: true }),
  };
}
