import { mkdtemp, realpath, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { LocalExecutionEnvironment } from '../environment/local-environment.ts';

/**
 * A folder of its own for a test, and an environment that works in it, with an empty home: login shells would read the
 * profile of whoever runs the tests. Both end with the scope.
 */
export async function temporaryEnvironment() {
  const directory = await realpath(await mkdtemp(path.join(os.tmpdir(), 'whetstone-loop-')));
  const home = await mkdtemp(path.join(os.tmpdir(), 'whetstone-loop-home-'));
  const environment = new LocalExecutionEnvironment({ workingDirectory: directory, env: { HOME: home } });
  return {
    directory,
    environment,
    path: (...parts: string[]) => path.join(directory, ...parts),
    [Symbol.asyncDispose]: async () => {
      await environment.cleanup();
      for (const folder of [directory, home]) await rm(folder, { recursive: true, force: true });
    },
  };
}
