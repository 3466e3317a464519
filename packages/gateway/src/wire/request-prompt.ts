import { parseJsonObject } from './json-reading.ts';
import type { RequestPrompt, WireProtocol } from './neutral.ts';
import { wires } from './wires.ts';

/**
 * The system prompt and the tools of a model request, unchanged: texts as they were sent, and definitions with their
 * fields in the same order.
 * @throws RequestError 400 when the body is not a JSON object.
 */
export const readRequestPrompt = (wire: WireProtocol, body: Uint8Array): RequestPrompt =>
  wires[wire].prompt(parseJsonObject(body));
