import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { codeOf, WhetstoneError } from '@whetstone/errors';
import type { Config } from '../config/config.ts';
import { readModule } from '../config/hash-module.ts';
import { isModule } from '../config/is-module.ts';
import { openRepository, type Repository } from './repository.ts';
import { parentPaths, pathBytes } from './tree-path.ts';

/** A path inside the repository that no case's tree has, whatever the commit holds there. */
export type Withheld = {
  /** Relative to the root of the repository, `/` separated, for display. A folder stands for all that is in it. */
  path: string;
  what: string;
};

/** Older runs may lie in any folder of this name, also in a place that `output_dir` no longer names. */
const OWN_FOLDER = '.whetstone';

export const RUNS = 'runs';

/**
 * What belongs to the evaluation and lies inside the repository: the same for all tasks, variants and agents, so that no
 * arm differs by it. A path in another work tree of the same repository counts too, because the commits are shared.
 * @throws WhetstoneError `withheld-repository` when one of them is the repository itself, and those of `openRepository`.
 */
export async function findWithheld(config: Config): Promise<Withheld[]> {
  const repository = await openRepository(config.repo.path);
  const found = new Map([[OWN_FOLDER, RUNS]]);
  for (const { file, what } of [...sourcesOf(config), ...(await importsOf(config))]) {
    for (const path of await pathsInside(repository, file)) {
      if (path === '') throw isWholeRepository(file, what);
      if (!isOwnFolder(path) && !found.has(path)) found.set(path, what);
    }
  }
  return [...found].map(([path, what]) => ({ path, what })).sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Whether a byte path of a tree is withheld. */
export function withheldBy(withheld: readonly Withheld[]): (path: string) => boolean {
  const paths = new Set(withheld.map(({ path }) => pathBytes(path)));
  const isOwn = paths.has(OWN_FOLDER) ? isOwnFolder : () => false;
  return (path) => isOwn(path) || [path, ...parentPaths(path)].some((one) => paths.has(one));
}

const isOwnFolder = (path: string): boolean => path.split('/').includes(OWN_FOLDER);

function sourcesOf(config: Config) {
  const { file, tasksFile, replacedTasks, tasks, variants, outputDir, gateway } = config;
  const upstreams = gateway && 'upstreams' in gateway ? gateway.upstreams : [];
  return [
    { file, what: 'the configuration' },
    { file: tasksFile, what: 'the tasks' },
    ...(config.alsoWithheld ?? []),
    ...named(replacedTasks?.file, 'the tasks of the configuration, which do not run'),
    ...(replacedTasks?.hiddenTests ?? []).flatMap((folder) =>
      named(folder, 'hidden tests of a task that does not run'),
    ),
    { file: outputDir, what: RUNS },
    ...tasks.flatMap(({ id, hiddenTests, goldPatch, overlays = [] }) => [
      ...named(hiddenTests, `hidden tests of task ${id}`),
      ...named(goldPatch, `the patch that solves task ${id}`),
      ...overlays.flatMap((one) =>
        named(one.kind === 'copy' ? one.source : undefined, `an overlay of task ${id}`),
      ),
    ]),
    ...variants.flatMap((variant) => [
      ...variant.overlays.flatMap((overlay) =>
        named(overlay.kind === 'copy' ? overlay.source : undefined, `an overlay of variant ${variant.name}`),
      ),
      ...named(
        variant.instructions && 'file' in variant.instructions ? variant.instructions.file : undefined,
        `instructions of variant ${variant.name}`,
      ),
      ...(variant.skills ?? []).flatMap(({ source }) => named(source, `a skill of variant ${variant.name}`)),
      ...(variant.plugins ?? []).flatMap(({ source }) =>
        named(source, `a plugin of variant ${variant.name}`),
      ),
    ]),
    ...named(gateway?.mode === 'script' ? gateway.script : undefined, 'the script of the gateway'),
    ...named(gateway && 'cassettes' in gateway ? gateway.cassettes : undefined, 'recorded model calls'),
    ...upstreams.flatMap(({ provider, key }) =>
      named(key && 'file' in key ? key.file : undefined, `the key of ${provider}`),
    ),
  ];
}

/**
 * What the task file and the script of the gateway import, where they are code: it is part of the answers. A package.json is
 * part of the project.
 */
async function importsOf({ file: own, tasksFile, replacedTasks, gateway }: Config) {
  const modules = [
    // An experiment is its own task file, and imports agents.
    ...(tasksFile === own ? [] : named(tasksFile, 'the tasks')),
    ...named(replacedTasks?.file, 'tasks that do not run'),
    ...named(gateway?.mode === 'script' ? gateway.script : undefined, 'the script of the gateway'),
  ];
  const found: { file: string; what: string }[] = [];
  for (const { file: module, what } of modules.filter(({ file }) => isModule(file))) {
    const files = [...(await readModule(module)).keys()];
    for (const file of files.filter((one) => one !== module && basename(one) !== 'package.json')) {
      found.push({ file, what: `imported by ${what}` });
    }
  }
  return found;
}

const named = (file: string | undefined, what: string) => (file === undefined ? [] : [{ file, what }]);

/** The path as it is written and, behind symlinks, the path that it leads to; only what is inside the repository. */
async function pathsInside(repository: Repository, file: string): Promise<string[]> {
  const parent = await existing(dirname(file));
  const places = new Set([join(parent, basename(file)), await existing(file)]);
  const paths: string[] = [];
  for (const place of places) {
    const root = await rootAround(repository, place);
    if (root !== undefined) paths.push(relative(root, place).split(sep).join('/'));
  }
  return paths;
}

/** The root of the work tree that a path lies in, if its commits are those of the repository. */
async function rootAround(repository: Repository, path: string): Promise<string | undefined> {
  const own = await existing(repository.workTree);
  if (path === own) return own;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const around = await openRepository(folder).catch(codeOf);
    // Then no folder above it is in a repository either.
    if (around === 'repo-not-git') return undefined;
    if (typeof around === 'object') {
      const isSame = (await existing(around.commonDir)) === (await existing(repository.commonDir));
      return isSame ? existing(around.workTree) : undefined;
    }
    if (dirname(folder) === folder) return undefined;
  }
}

/** The real path, for as much of it as exists. */
async function existing(path: string): Promise<string> {
  if (dirname(path) === path) return path;
  return realpath(path).catch(async () => join(await existing(dirname(path)), basename(path)));
}

function isWholeRepository(file: string, what: string): WhetstoneError {
  return new WhetstoneError(
    'withheld-repository',
    `The repository itself is named as ${what}, which no agent may see.`,
    { where: file, hint: 'Name a folder below it, or one outside.' },
  );
}
