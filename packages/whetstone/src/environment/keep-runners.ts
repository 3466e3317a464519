import { execFile } from 'node:child_process';
import { access, lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { isRunnerSettings, shortProtected } from '../config/default-protected-paths.ts';
import { makeRoom, removeEntry } from '../workspace/edit-tree.ts';
import { pathBytes } from '../workspace/tree-path.ts';
import { isRunnerModule, isRunnerPackage, packagesIn, runnerPackages } from './runner-packages.ts';

/** The two folders of a layer. */
type Layer = { tree: string; home: string };

/** What programs find in HOME without being asked. */
const HOME_SETTINGS = [
  ...['.npmrc', '.yarnrc', '.yarnrc.yml', '.bashrc', '.bash_profile', '.profile', '.zshenv', '.gitconfig'],
  ...[
    '.config',
    '.cargo/config',
    '.cargo/config.toml',
    '.cargo/bin',
    '.local/bin',
    '.node_modules',
    '.mocharc',
  ],
];

/**
 * Makes what runs tests in a layer that was prepared from an agent's changes the same as in the pristine layer: runners,
 * assertion libraries and all that they depend on, programs of packages, plugins of pytest, settings of runners, and
 * settings in HOME. What the agent may add or upgrade are other packages. Follows no link of `made`. Resolves with what
 * differed, as short paths.
 */
export async function keepRunners(pristine: Layer, made: Layer): Promise<string[]> {
  const differing = new Set<string>();
  const keep = async (from: string, to: string, path: string, shown = path) => {
    if (await isSame(join(from, path), join(to, path))) return;
    differing.add(shortPackage(shown));
    const bytes = pathBytes(path);
    if (!(await lstat(join(from, path)).catch(() => undefined))) {
      await removeEntry(to, bytes);
      return;
    }
    await makeRoom(to, bytes);
    await promisify(execFile)('cp', ['-a', '--reflink=auto', '--', join(from, path), join(to, path)]);
  };
  const keepInTree = (path: string) => keep(pristine.tree, made.tree, path);
  const folders = { pristine: await foldersOf(pristine.tree), made: await foldersOf(made.tree) };
  const modules = [...new Set([...folders.pristine.modules, ...folders.made.modules])];
  for (const path of [...(await runnerPackages(pristine.tree, folders.pristine.modules))].sort())
    await keepInTree(path);
  for (const folder of modules) {
    for (const name of await packagesIn(join(made.tree, folder)))
      if (isRunnerPackage(name) && (await isFound(pristine.tree, folder, name)))
        await keepInTree(join(folder, name));
    await keepPrograms(join(folder, '.bin'), (name) => isFound(pristine.tree, folder, `.bin/${name}`));
  }
  for (const folder of new Set([...folders.pristine.python, ...folders.made.python])) {
    await keepInTree(join(folder, 'pyvenv.cfg'));
    await keepPrograms(join(folder, 'bin'), async () => false);
    await keepModules(pristine.tree, made.tree, folder);
  }
  for (const path of new Set([...folders.pristine.settings, ...folders.made.settings]))
    await keepInTree(path);
  for (const path of HOME_SETTINGS) await keep(pristine.home, made.home, path, `~/${path}`);
  await keepModules(pristine.home, made.home, '.local', '~/');
  return [...differing].sort();

  /** The programs that were there, and none that takes the place of one of the machine. */
  async function keepPrograms(folder: string, isAbove: (name: string) => Promise<boolean>): Promise<void> {
    const names = new Set([...(await namesIn(pristine.tree, folder)), ...(await namesIn(made.tree, folder))]);
    for (const name of names) {
      const isOld = await lstat(join(pristine.tree, folder, name)).catch(() => undefined);
      if (isOld || (await isAbove(name)) || (await isOnPath(name))) await keepInTree(join(folder, name));
    }
  }

  async function keepModules(from: string, to: string, folder: string, prefix = ''): Promise<void> {
    for (const library of await namesIn(to, join(folder, 'lib'))) {
      const packages = join(folder, 'lib', library, 'site-packages');
      const old = new Set(await namesIn(from, packages));
      for (const name of new Set([...old, ...(await namesIn(to, packages))])) {
        const path = join(packages, name);
        if (isRunnerModule(name)) await keep(from, to, path, prefix + path);
        // A new distribution may be imported, but it adds nothing to the runner.
        else if (!old.has(name) && /\.(dist|egg)-info$/.test(name))
          await keep(from, to, join(path, 'entry_points.txt'), prefix + path);
      }
    }
  }
}

const namesIn = (root: string, folder: string): Promise<string[]> =>
  readdir(join(root, folder)).catch(() => []);

/** `node_modules/a/b/c` as `node_modules/a`. */
function shortPackage(path: string): string {
  const [, short] = /^(.*node_modules\/(?:\.bin\/|@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  return short ?? (path.startsWith('~/') ? path : shortProtected(path));
}

/** Whether the packages above a folder of them have a name, where Node would find it. */
async function isFound(tree: string, modules: string, name: string): Promise<boolean> {
  for (let at = dirname(modules); ; at = dirname(at)) {
    if (await lstat(join(tree, at, 'node_modules', name)).catch(() => undefined)) return true;
    if (at === '.') return false;
  }
}

async function isOnPath(name: string): Promise<boolean> {
  for (const folder of (process.env.PATH ?? '').split(delimiter))
    if (
      await access(join(folder, name)).then(
        () => true,
        () => false,
      )
    )
      return true;
  return false;
}

type Folders = { modules: string[]; python: string[]; settings: string[] };

/** The folders of packages in a tree, and the settings of runners outside of them. Follows no link. */
async function foldersOf(tree: string): Promise<Folders> {
  const found: Folders = { modules: [], python: [], settings: [] };
  const waiting = [''];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const entries = await readdir(join(tree, folder), { withFileTypes: true }).catch(() => []);
    if (folder !== '' && entries.some(({ name }) => name === 'pyvenv.cfg')) {
      found.python.push(folder);
      continue;
    }
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.name === 'node_modules') found.modules.push(path);
      else if (entry.isDirectory() && entry.name !== '.git') waiting.push(path);
      else if (isRunnerSettings(path)) found.settings.push(path);
    }
  }
  return found;
}

/** Whether two paths hold the same: both nothing, the same link, the same file, or folders of the same. */
async function isSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => lstat(path).catch(() => undefined)));
  if (!a || !b) return a === b;
  if (a.isSymbolicLink() && b.isSymbolicLink()) return (await readlink(one)) === (await readlink(other));
  if (a.isFile() && b.isFile()) {
    if (a.size !== b.size || (a.mode & 0o111) !== (b.mode & 0o111)) return false;
    const [left, right] = await Promise.all([readFile(one), readFile(other)]);
    return left.equals(right);
  }
  if (!a.isDirectory() || !b.isDirectory()) return false;
  const [left, right] = await Promise.all([readdir(one), readdir(other)]);
  if (left.length !== right.length) return false;
  const names = new Set(right);
  for (const name of left) {
    if (!names.has(name)) return false;
    if (!(await isSame(join(one, name), join(other, name)))) return false;
  }
  return true;
}
