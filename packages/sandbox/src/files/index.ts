/** The public surface of `@whetstone/sandbox/files`: what Node does not do with files. It has no dependencies. */
export { BRIEF_PREFIX, briefFolder, isLeftBehind } from './brief-folder.ts';
export { copyAttributes } from './copy-attributes.ts';
export { makeEach } from './make-each.ts';
export { readRange } from './read-range.ts';
