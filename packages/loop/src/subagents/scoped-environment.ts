import { pathsOf, relativeInside, resolvePath } from '../environment/environment-path.ts';
import { wrapEnvironment } from '../environment/environment-root.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';

/**
 * The same environment with another working folder, which lies inside its own. Relative paths and commands start there,
 * but nothing keeps them there. Rejects where that is not a folder, or lies outside once symbolic links are resolved.
 */
export async function scopeEnvironment(
  environment: ExecutionEnvironment,
  folder: string,
): Promise<ExecutionEnvironment> {
  const directory = await folderInside(environment, folder);
  if (directory === environment.workingDirectory()) return environment;
  const paths = pathsOf(environment);
  const at = (path: string | undefined) => paths.resolve(directory, path ?? '.');
  const { start, connect, outputDirectory } = environment;
  const scoped: ExecutionEnvironment = {
    workingDirectory: () => directory,
    platform: () => environment.platform(),
    osVersion: () => environment.osVersion(),
    readBytes: (path) => environment.readBytes(at(path)),
    writeBytes: (path, content, options) => environment.writeBytes(at(path), content, options),
    remove: (path) => environment.remove(at(path)),
    rename: (from, to) => environment.rename(at(from), at(to)),
    stat: (path) => environment.stat(at(path)),
    mkdirp: (path) => environment.mkdirp(at(path)),
    realpath: (path) => environment.realpath(at(path)),
    listDirectory: (path) => environment.listDirectory(at(path)),
    exec: (command, options) =>
      environment.exec(command, { ...options, workingDirectory: at(options?.workingDirectory) }),
    ...(start && {
      start: (command, options) =>
        start.call(environment, command, { ...options, workingDirectory: at(options?.workingDirectory) }),
    }),
    ...(connect && {
      connect: (command, options) =>
        connect.call(environment, command, { ...options, workingDirectory: at(options.workingDirectory) }),
    }),
    ...(outputDirectory && { outputDirectory: () => outputDirectory.call(environment) }),
  };
  return wrapEnvironment(scoped, environment);
}

async function folderInside(environment: ExecutionEnvironment, folder: string): Promise<string> {
  const root = environment.workingDirectory();
  const [realRoot, real] = await Promise.all([
    environment.realpath(root),
    environment.realpath(resolvePath(environment, folder)).catch(() => undefined),
  ]);
  if (real === undefined || (await environment.stat(real))?.kind !== 'directory')
    throw new Error(`working_dir: ${folder} is not a folder`);
  const relative = relativeInside(environment, realRoot, real);
  if (relative === undefined)
    throw new Error(`working_dir: ${folder} is outside ${root}; a subagent has to work inside it`);
  return relative === '' ? root : real;
}
