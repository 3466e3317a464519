import { inheritedEnvironment } from '../process-sandbox/scrubbed-environment.ts';

/** Variables that are about this machine's user, or name folders that hold the user's credentials. */
const LEFT_OUT = new Set(['CARGO_HOME', 'GOPATH', 'GRADLE_HOME', 'PNPM_HOME', 'SHELL', 'USER', 'LOGNAME']);

/** What a sealed command gets of the environment of this process. */
export function sealedEnvironment(parent: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(inheritedEnvironment(parent)).filter(([name]) => !LEFT_OUT.has(name));
  return { ...Object.fromEntries(entries), USER: 'user', LOGNAME: 'user' };
}
