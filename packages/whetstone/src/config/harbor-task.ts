import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskConfig } from './config.ts';

/** In the hidden tests of a task that was made of a Harbor task: where the files of its verifier are. */
export const HARBOR_VERIFIER = '.harbor';

/** Whether a task was made of a Harbor task. Its verifier makes a mount namespace, which only the sandbox `process` lets it do. */
export const isOfHarbor = ({ hiddenTests }: Pick<TaskConfig, 'hiddenTests'>): boolean =>
  hiddenTests !== undefined && existsSync(join(hiddenTests, HARBOR_VERIFIER, 'verify.sh'));

/** A name that a folder and a Harbor task can have. */
export const slug = (id: string): string => id.replace(/[^\w.-]+/g, '-').replace(/^[.-]+/, '') || 'task';
