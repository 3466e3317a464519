import picomatch from 'picomatch';
import type { TaskConfig } from './config.ts';
import { protectedBy } from './protected-paths.ts';

/** Folders that hold programs and packages. In every folder of a tree. */
const FOLDERS = [
  ...['node_modules', '.yarn', '.venv', 'venv', '__pycache__', '*.dist-info', '*.egg-info'],
  ...['.github/workflows', '.circleci', '.buildkite'],
];

/** Files that test runners read by themselves. In every folder of a tree. */
const RUNNER_SETTINGS = [
  ...['{vitest,vite,jest,ava,karma,babel,postcss,playwright,cypress}.{config,conf}.*', 'vitest.workspace.*'],
  ...['.mocharc*', '.babelrc*', '.swcrc', '.postcssrc*', '.taprc', '.nycrc*', '.c8rc*'],
  ...['conftest.py', 'sitecustomize.py', 'usercustomize.py', '{,.}pytest.{ini,toml}', 'noxfile.py'],
];

/** Files that say how programs are started and which of them run. In every folder of a tree. */
const FILES = [
  ...RUNNER_SETTINGS,
  ...['.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', '.pnp.*', 'bunfig.toml', '*.pth'],
  ...['tsconfig*.json', 'jsconfig.json', '.env', '.env.{local,test,test.local}'],
  ...['.cargo/config', '.cargo/config.toml', 'rust-toolchain', 'rust-toolchain.toml', 'go.work'],
  ...['.gitlab-ci.yml', '.travis.yml', 'azure-pipelines.yml', 'Jenkinsfile', '.envrc'],
];

/** One expression, because a case can have changed very many paths. */
const anyOf = (patterns: readonly string[]): RegExp =>
  new RegExp(patterns.map((pattern) => picomatch.makeRe(`**/${pattern}`, { dot: true }).source).join('|'));
const isInFolder = anyOf(FOLDERS.flatMap((folder) => [folder, `${folder}/**`]));
const isFile = anyOf(FILES);
const isSettings = anyOf(RUNNER_SETTINGS);
const folderOf = FOLDERS.map((folder) => picomatch(`**/${folder}`, { dot: true }));

/** Whether a path decides what runs in the clean room, in whatever task. */
export const isProtectedByDefault = (path: string): boolean => isFile.test(path) || isInFolder.test(path);

/** Whether a path holds settings that a test runner reads by itself, and is not in a folder of packages. */
export const isRunnerSettings = (path: string): boolean => isSettings.test(path) && !isInFolder.test(path);

/** The paths that a task leaves to the agent although they are protected by default. */
export function changeableIn({
  changeablePaths = [],
  hardEvaluation,
}: TaskConfig): (path: string) => boolean {
  const isNamed = protectedBy(changeablePaths);
  const required = new Set(hardEvaluation?.requiredPaths);
  return (path) => isNamed(path) || required.has(path);
}

/** A path as a reader wants it: of what lies in a folder of packages only that folder, with a `/` at its end. */
export function shortProtected(path: string): string {
  const parts = path.split('/');
  for (let length = 1; length < parts.length; length += 1) {
    const folder = parts.slice(0, length).join('/');
    if (folderOf.some((matches) => matches(folder))) return `${folder}/`;
  }
  return path;
}
