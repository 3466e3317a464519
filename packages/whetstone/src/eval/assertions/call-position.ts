import { fileURLToPath } from 'node:url';
import type { SourcePosition } from './assertion.ts';

/** A function whose caller's position is asked for. */
export type CalledFunction = (...given: never[]) => unknown;

/**
 * Remembers where `called` was called. The engine keeps only one frame, and makes a text of it when the position is
 * asked for. `undefined`: it was not called by a file.
 */
export function callPosition(called: CalledFunction): () => SourcePosition | undefined {
  const holder: { stack?: string } = {};
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 1;
  Error.captureStackTrace(holder, called);
  Error.stackTraceLimit = limit;
  return () => positionIn(holder.stack ?? '');
}

function positionIn(stack: string): SourcePosition | undefined {
  const frame = /^\s+at (?:.*\()?(?<place>\S.*?):(?<line>\d+):(?<column>\d+)\)?$/m.exec(stack)?.groups;
  if (!frame) return undefined;
  const { place = '', line, column } = frame;
  const file = place.startsWith('file:') ? fileURLToPath(place.replace(/\?.*$/, '')) : place;
  return { file, line: Number(line), column: Number(column) };
}
