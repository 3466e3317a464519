import type { ProgramEnd } from './dialogue.ts';
import type { Reading } from './output-reader.ts';
import type { JsonLinesSummary } from './read-json-lines.ts';
import { stoppedMessages } from './stopped-messages.ts';
import { EVENT_TEXT_BYTES, textTail } from './text-tail.ts';

/** `details`: the end of the program's error output. */
type Failure = { message: string; details?: string };

/**
 * Why the turn failed; `undefined` if it did not. For an agent with a stream, the stream decides, because exit codes are
 * wrong in both directions. For text there is only the exit code. A time limit or an abort comes before both.
 */
export function turnFailure({ ended, exitCode, stderr }: ProgramEnd, reading: Reading): Failure | undefined {
  const details = textTail(stderr, EVENT_TEXT_BYTES);
  if (ended !== 'exit') {
    const message = stoppedMessages[ended];
    return reading.source === 'text' ? { message, details } : { message };
  }
  if (reading.source === 'stream') return streamFailure(reading.summary, exitCode, details);
  if (reading.source === 'transcript' && reading.summary.ending === 'failed') {
    return { message: reading.summary.failure ?? 'The transcript says that the turn failed.' };
  }
  if (exitCode === 0) return undefined;
  if (exitCode === 127) return { message: 'The agent was not found (exit code 127).', details };
  return { message: `The agent ended with exit code ${exitCode}.`, details };
}

function streamFailure(
  { ending, failure }: JsonLinesSummary,
  exitCode: number | undefined,
  stderr: string,
): Failure | undefined {
  if (ending === 'failed') return { message: failure ?? 'The agent says that its turn failed.' };
  if (ending !== undefined) return undefined;
  const reason = failure ?? stderr;
  const code = exitCode === undefined ? '' : ` (exit code ${exitCode})`;
  const message = `The agent ended${code} without saying how its turn went.`;
  return { message: reason === '' ? message : `${message}\n${reason}` };
}
