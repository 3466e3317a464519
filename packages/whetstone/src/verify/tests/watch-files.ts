import { lstat, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TaskTests } from '../../config/config.ts';

const CODE = /\.(rs|go|py|[cm]?[jt]sx?)$/;
/** More are not watched. */
const MOST_FILES = 5000;

/** Notes what the files of tests are. The returned function names the first that was changed since. */
export async function watchFiles(
  tree: string,
  { runner, files }: Pick<TaskTests, 'runner' | 'files'>,
): Promise<() => Promise<string | undefined>> {
  const watched = new Set<string>();
  for (const file of files) {
    const found = await lstat(join(tree, file)).catch(() => undefined);
    if (found?.isFile()) watched.add(file);
    // What cargo runs before it compiles the tests can change the modules beside them as well.
    const folder = found?.isDirectory() ? file : runner === 'cargo-test' ? dirname(file) : undefined;
    if (folder === undefined || folder === '.' || folder === 'src') continue;
    const below = await readdir(join(tree, folder), { recursive: true }).catch(() => []);
    for (const name of below.slice(0, MOST_FILES)) if (CODE.test(name)) watched.add(join(folder, name));
  }
  const states = new Map<string, string>();
  for (const path of watched) states.set(path, await stateOf(join(tree, path)));
  return async () => {
    for (const [path, state] of states) if ((await stateOf(join(tree, path))) !== state) return path;
    return undefined;
  };
}

/** The time of the last change cannot be set, so a file that was changed and changed back is another one. */
async function stateOf(path: string): Promise<string> {
  const found = await lstat(path, { bigint: true }).catch(() => undefined);
  return found === undefined ? 'absent' : `${found.ino} ${found.size} ${found.ctimeNs}`;
}
