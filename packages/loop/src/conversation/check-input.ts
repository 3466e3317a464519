import { imageTypeOf, MEDIA_TYPES } from './image-type.ts';
import { type Input, type Part, wellFormedInput } from './turn.ts';

/**
 * The input without anything that providers refuse. Throws a `TypeError` that names the place for an empty or malformed
 * one: once it is in the history, a provider would refuse every later request.
 */
export function checkInput(method: string, input: Input): Input {
  if (typeof input !== 'string') {
    const problem = problemOfParts(input);
    if (problem !== undefined) throw new TypeError(`${method}: ${problem}`);
  }
  const isEmpty =
    typeof input === 'string'
      ? input.trim() === ''
      : input.every((part) => part.type === 'text' && part.text.trim() === '');
  if (isEmpty) throw new TypeError(`${method}: the input is empty`);
  return wellFormedInput(input);
}

/** What is wrong with the parts of a message, with the path to it; `undefined` where nothing is. */
export function problemOfParts(parts: unknown, name = 'input'): string | undefined {
  if (!Array.isArray(parts))
    return `${name} is ${describeValue(parts)}; it must be a text or a list of parts`;
  for (const [index, part] of parts.entries()) {
    const problem = problemOfPart(part, `${name}[${index}]`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOfPart(part: Partial<Part> | null | undefined, path: string): string | undefined {
  if (typeof part !== 'object' || part === null)
    return `${path} is ${describeValue(part)}; it must be a part, such as { type: 'text', text: '…' }`;
  if (part.type === 'text')
    return typeof part.text === 'string'
      ? undefined
      : `${path}.text is ${describeValue(part.text)}; it must be a text`;
  if (part.type !== 'image')
    return `${path}.type is ${describeValue((part as { type?: unknown }).type)}; it must be "text" or "image"`;
  const { data, mediaType } = part;
  if (typeof mediaType !== 'string' || !MEDIA_TYPES.includes(mediaType))
    return `${path}.mediaType is ${describeValue(mediaType)}; it must be one of ${MEDIA_TYPES.join(', ')}`;
  if (typeof data !== 'string' || data === '')
    return `${path}.data is ${describeValue(data)}; it must be the image in base64`;
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data))
    return `${path}.data is not base64 (${describeValue(data)}); give the image without a "data:" prefix and line breaks`;
  const found = imageTypeOf(Buffer.from(data.slice(0, 64), 'base64'));
  if (found !== mediaType)
    return `${path}.data begins like ${found ?? 'no image that providers read'}, not like ${mediaType}`;
  return undefined;
}

/** A wrong value in a few words, for the message about it. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'string')
    return value === '' ? 'empty' : JSON.stringify(value.length > 24 ? `${value.slice(0, 24)}…` : value);
  if (value === null || typeof value !== 'object') return String(value);
  return Array.isArray(value) ? 'a list' : 'an object';
}
