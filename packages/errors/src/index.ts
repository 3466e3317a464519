/** The public surface of `@whetstone/errors`: the error class that every package throws, and its hints. */
export { didYouMean, suggestion } from './did-you-mean.ts';
export { WhetstoneError } from './whetstone-error.ts';
