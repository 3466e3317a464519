import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';

const NAMES = ['whetstone.yaml', 'context-eval.yaml'];

/** The named config file, else the first of the usual names in the current directory. */
export function findConfig(named?: string): string {
  if (named !== undefined) return resolve(named);
  const found = NAMES.find((name) => existsSync(name));
  if (found) return resolve(found);
  throw new WhetstoneError('config-not-found', `There is no ${NAMES.join(' or ')} in ${process.cwd()}.`, {
    hint: 'Write one with "whetstone init", or name yours with -c.',
  });
}
