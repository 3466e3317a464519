/** The public surface of `@whetstone/sandbox/files`: what Node does not do with files. It has no dependencies. */
export { copyAttributes } from './copy-attributes.ts';
export { readRange } from './read-range.ts';
