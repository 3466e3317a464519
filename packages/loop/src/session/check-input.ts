import { type Input, wellFormedInput } from '../conversation/turn.ts';

/** The input without anything that providers refuse. Throws a `TypeError` for an empty one. */
export function checkInput(method: string, input: Input): Input {
  const empty =
    typeof input === 'string'
      ? input.trim() === ''
      : input.every((part) => part.type === 'text' && part.text.trim() === '');
  if (empty) throw new TypeError(`${method}: the input is empty`);
  return wellFormedInput(input);
}
