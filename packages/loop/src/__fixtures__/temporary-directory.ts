import { mkdtemp, realpath, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { LocalExecutionEnvironment } from '../environment/local-environment.ts';

/** A folder of its own for a test, and an environment that works in it. Both end with the scope. */
export async function temporaryEnvironment() {
  const directory = await realpath(await mkdtemp(path.join(os.tmpdir(), 'whetstone-loop-')));
  const environment = new LocalExecutionEnvironment({ workingDirectory: directory });
  return {
    directory,
    environment,
    path: (...parts: string[]) => path.join(directory, ...parts),
    [Symbol.asyncDispose]: async () => {
      await environment.cleanup();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
