import { basename } from 'node:path';
import { isModule } from '../config/is-module.ts';
import { readRun } from '../record/read-run.ts';

export type RescoreTasksCommandOptions = {
  config?: string;
  tasks?: string;
  validation: string[];
  repeat: number;
  jobs: number;
  json?: boolean;
};

/** Whether a configuration with a task file was run. An experiment is code, in a file that is no configuration. */
export async function isOfTasks(directory: string): Promise<boolean> {
  const { config_path: file } = (await readRun(directory)).manifest;
  return !isModule(file) || /^whetstone\.config\./.test(basename(file));
}
