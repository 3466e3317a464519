import { join } from 'node:path';

const modules = join(import.meta.dirname, '../../../../../node_modules');
/** Shell commands that install this repository's Vitest, without the network. */
export const PREPARE_VITEST = [
  `mkdir -p node_modules/.bin && ln -s ${modules}/vitest node_modules/vitest`,
  'printf \'#!/bin/sh\\nexec node "%s/node_modules/vitest/vitest.mjs" "$@"\\n\' "$PWD" > node_modules/.bin/vitest',
  'chmod +x node_modules/.bin/vitest',
];
