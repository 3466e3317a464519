import path from 'node:path';
import type { ExecutionEnvironment } from './execution-environment.ts';

/** The path rules of an environment, which need not be those of the host. */
export function pathsOf(environment: ExecutionEnvironment): path.PlatformPath {
  return environment.platform() === 'win32' ? path.win32 : path.posix;
}

/** `target` as an absolute, normalised path of the environment. */
export function resolvePath(environment: ExecutionEnvironment, target: string): string {
  return pathsOf(environment).resolve(environment.workingDirectory(), target);
}

/** `target` relative to the working folder where it lies inside, else absolute. For messages and results. */
export function displayPath(environment: ExecutionEnvironment, target: string): string {
  const absolute = resolvePath(environment, target);
  const relative = relativeInside(environment, environment.workingDirectory(), absolute);
  return relative === '' ? '.' : (relative ?? absolute);
}

/** `target` relative to `folder`; `undefined` where it lies outside. */
export function relativeInside(
  environment: ExecutionEnvironment,
  folder: string,
  target: string,
): string | undefined {
  const paths = pathsOf(environment);
  const relative = paths.relative(folder, target);
  const isOutside = relative === '..' || relative.startsWith(`..${paths.sep}`) || paths.isAbsolute(relative);
  return isOutside ? undefined : relative;
}
