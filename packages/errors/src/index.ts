/** The public surface of `@whetstone/errors`. What suggests a word is in `@whetstone/errors/did-you-mean`. */
export { type ErrorCode, errorTable, exitCodes } from './error-table.ts';
export { codeOf, firstError, messageOf, messageWithCause } from './message-of.ts';
export { printable } from './printable.ts';
export type { ErrorClass, ErrorEntry } from './table/error-entry.ts';
export { WhetstoneError, type WhetstoneErrorOptions } from './whetstone-error.ts';
