import { type JsonValue, parseJson } from '@whetstone/events';

/** The JSON object of an answer. Some models put it in a block of code, or a sentence around it. `undefined`: there is none. */
export const jsonIn = (answer: string): JsonValue | undefined =>
  parseJson(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1));
