import { globSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { EvalFile } from './protocol.ts';

/** A file of an experiment, with the id that its path gives it. */
export type ExperimentFile = { file: string; id: string };

const EXTENSIONS = '{ts,mts,js,mjs}';
const IGNORED = ['**/node_modules/**', '**/.*/**'];

const found = (root: string, folder: string, pattern: string): string[] =>
  globSync(pattern, { cwd: join(root, folder), exclude: IGNORED })
    .map((path) => path.split(sep).join('/'))
    .sort();

/** The files `evals/**\/*.eval.ts` below a folder, sorted. The id is the path without folder and extension. */
export function findEvalFiles(root: string): EvalFile[] {
  return found(root, 'evals', `**/*.eval.${EXTENSIONS}`).map((path) => ({
    file: join(root, 'evals', path),
    id: path.replace(/\.eval\.\w+$/, ''),
  }));
}

/** The folders below `evals` with a PROMPT.md, sorted, without those inside of another one. */
export function findFixtureFolders(root: string): EvalFile[] {
  const folders = found(root, 'evals', '**/PROMPT.md').map((path) => path.replace(/\/?PROMPT\.md$/, ''));
  return folders
    .filter((path) => path !== '' && !folders.some((other) => path.startsWith(`${other}/`)))
    .map((id) => ({ file: join(root, 'evals', id), id }));
}

/** The files `experiments/**\/*.ts` below a folder, without tests and declarations, sorted. */
export function findExperimentFiles(root: string): ExperimentFile[] {
  return found(root, 'experiments', `**/*.${EXTENSIONS}`)
    .filter((path) => !/\.(?:test|spec|d)\.\w+$/.test(path))
    .map((path) => ({ file: join(root, 'experiments', path), id: path.replace(/\.\w+$/, '') }));
}
