import { readFileSync } from 'node:fs';
import { configFileOf } from '../config/load-project.ts';
import { findExperimentFiles, findFixtureFolders } from '../eval/find-evals.ts';

/** A key of a configuration or an experiment that only cases with files or models have. */
const KEY = /\b(?:repo|gateway|judge|kind|command|sandbox)["']?\s*:/;

/**
 * Guesses from the texts of a project whether its cases work with files or models. Only loading the project shows it, but
 * the process has to start anew for such cases, and the user's code would then run a second time. A wrong guess costs a
 * start, and nothing else.
 */
export function likelyWorksWithFiles(root: string): boolean {
  if (findFixtureFolders(root).length > 0) return true;
  const config = configFileOf(root);
  const files = [
    ...(config === undefined ? [] : [config]),
    ...findExperimentFiles(root).map(({ file }) => file),
  ];
  return files.some((file) => KEY.test(readFileSync(file, 'utf8')));
}
