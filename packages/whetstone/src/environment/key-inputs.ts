import picomatch from 'picomatch';
import { displayPath } from '../workspace/tree-path.ts';

/**
 * What decides which packages are installed, wherever in the tree: lock files, manifests, the settings of package managers
 * and the versions of tools. Patches and plugins change what is installed.
 */
const KEY_INPUTS = [
  ...['package.json', 'package-lock.json', 'npm-shrinkwrap.json', '.npmrc', '.nvmrc', '.node-version'],
  ...['yarn.lock', '.yarnrc', '.yarnrc.yml', '.yarn/{patches,plugins,releases}/**', 'bun.lock', 'bun.lockb'],
  ...['pnpm-lock.yaml', 'pnpm-workspace.yaml', '.pnpmfile.cjs', '.pnpmfile.mjs', 'patches/**'],
  ...['pyproject.toml', 'setup.py', 'setup.cfg', 'requirements*.txt', 'requirements/**', 'constraints*.txt'],
  ...['uv.lock', 'poetry.lock', 'poetry.toml', 'Pipfile', 'Pipfile.lock', '.python-version'],
  ...['go.mod', 'go.sum', 'go.work', 'go.work.sum', 'vendor/modules.txt'],
  ...['Cargo.toml', 'Cargo.lock', 'rust-toolchain', 'rust-toolchain.toml', 'build.rs', '.cargo/config*'],
  ...['.tool-versions', 'mise.toml', '.mise.toml'],
].map((pattern) => `**/${pattern}`);

/** Whether a display path is an input of the preparation. `undefined`: what decides which packages are installed. */
export function isInput(inputs: 'all' | readonly string[] | undefined): (path: string) => boolean {
  if (inputs === 'all') return () => true;
  return picomatch([...(inputs ?? KEY_INPUTS)], { dot: true });
}

/**
 * The files of a tree that commands see where manifests are not enough: all but instructions for agents, so that the arms of
 * a comparison which differ in these have the same environment.
 */
export function wholeTreeOf<Entry>(
  entries: ReadonlyMap<string, Entry>,
  instructionFiles: readonly string[],
): Map<string, Entry> {
  const instructions = new Set(instructionFiles);
  return new Map([...entries].filter(([path]) => !instructions.has(displayPath(path))));
}
