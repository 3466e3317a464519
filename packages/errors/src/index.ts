/** The public surface of `@whetstone/errors`. What suggests a word is in `@whetstone/errors/did-you-mean`. */
export { messageOf, messageWithCause } from './message-of.ts';
export { WhetstoneError } from './whetstone-error.ts';
