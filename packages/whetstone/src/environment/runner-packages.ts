import { lstat, readdir, readFile, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { isMapping } from '../config/check-shape.ts';

/** Packages of Node that run tests or assert in them. */
const RUNNERS = new RegExp(
  `^(${[
    ...['vitest', 'vite', 'vite-node', '@vitest/.+', 'jest', 'jest-.+', '@jest/.+', 'babel-jest', 'ts-jest'],
    ...['expect', 'mocha', 'ts-mocha', 'chai', 'chai-.+', 'ava', 'tap', 'tape', 'uvu', 'sinon', 'should'],
    ...['power-assert', 'expect-type', 'tsx', 'ts-node', '@swc/jest', 'jsdom', 'happy-dom'],
    ...['@testing-library/.+', 'playwright', '@playwright/test', 'cypress', 'c8', 'nyc'],
  ].join('|')})$`,
);

/** Whether a package of Node runs tests or asserts in them. */
export const isRunnerPackage = (name: string): boolean => RUNNERS.test(name);

/** Distributions of Python that run tests, by the names of their files in a folder of packages. */
export const isRunnerModule = (name: string): boolean =>
  /^(_?pytest|pluggy|iniconfig|packaging|exceptiongroup|tomli|pygments|py|nose2?|unittest2|xdist)(\.py|[-_.].*\.(dist|egg)-info|-.*|_.*)?$/i.test(
    name,
  ) || /\.pth$|^(site|user)customize\.py$/.test(name);

/**
 * The packages of Node in a tree that its tests are run with: those that run or assert, and all that they depend on. As paths
 * from the tree, `/` separated: folders, and links to them.
 */
export async function runnerPackages(tree: string, modules: readonly string[]): Promise<Set<string>> {
  const root = await realpath(tree);
  const found = new Set<string>();
  const queue: string[] = [];
  const seen = new Set<string>();
  const take = async (path: string): Promise<boolean> => {
    const stat = await lstat(path).catch(() => undefined);
    const real = stat && (await realpath(path).catch(() => undefined));
    // A link to a package of the project itself leads to the code under test.
    if (real === undefined || !isInside(root, real) || !relative(root, real).includes('node_modules'))
      return false;
    found.add(relative(root, path));
    found.add(relative(root, real));
    if (!seen.has(real)) queue.push(real);
    seen.add(real);
    return true;
  };
  for (const folder of modules)
    for (const name of await packagesIn(join(root, folder)))
      if (isRunnerPackage(name)) await take(join(root, folder, name));
  for (let from = queue.shift(); from !== undefined; from = queue.shift())
    for (const name of await dependenciesOf(from)) {
      let at = from;
      while (isInside(root, at) && !(await take(join(at, 'node_modules', name)))) at = join(at, '..');
    }
  return found;
}

const isInside = (root: string, path: string): boolean => path === root || path.startsWith(`${root}/`);

/** The names of the packages in a `node_modules`. */
export async function packagesIn(modules: string): Promise<string[]> {
  const names = await readdir(modules).catch(() => []);
  const found: string[] = [];
  for (const name of names) {
    if (name.startsWith('.')) continue;
    if (!name.startsWith('@')) found.push(name);
    else for (const one of await readdir(join(modules, name)).catch(() => [])) found.push(`${name}/${one}`);
  }
  return found;
}

async function dependenciesOf(folder: string): Promise<string[]> {
  try {
    const manifest: unknown = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    if (!isMapping(manifest)) return [];
    const { dependencies, optionalDependencies, peerDependencies } = manifest;
    return [dependencies, optionalDependencies, peerDependencies].flatMap((asked) =>
      isMapping(asked) ? Object.keys(asked) : [],
    );
  } catch {
    return [];
  }
}
