import type { ProcessState } from '../../environment/execution-environment.ts';

/** About four bytes a token, as the released agent counts. */
const BYTES_PER_TOKEN = 4;

export const DEFAULT_MAX_TOKENS = 10_000;

type CommandReport = {
  output: string;
  state: ProcessState;
  /** How the model names a command that still runs. */
  sessionId?: string;
  seconds: number;
  maxTokens: number;
};

/** What `exec_command` and `write_stdin` answer. */
export function reportCommand({ output, state, sessionId, seconds, maxTokens }: CommandReport): string {
  return [
    `Chunk ID: ${crypto.randomUUID().slice(0, 6)}`,
    `Wall time: ${seconds.toFixed(4)} seconds`,
    describeState(state, sessionId),
    `Original token count: ${tokensOf(output)}`,
    'Output:',
    cutToTokens(output, maxTokens),
  ].join('\n');
}

function describeState(state: ProcessState, sessionId: string | undefined): string {
  if (state.kind === 'running') return `Process running with session ID ${sessionId}`;
  if (state.exitCode !== undefined) return `Process exited with code ${state.exitCode}`;
  return `Process was ended by ${state.signal ?? 'a signal'}`;
}

function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** Cuts the middle out of a long output; characters stay whole. */
export function cutToTokens(text: string, maxTokens: number): string {
  const bytes = Buffer.from(text);
  const room = maxTokens * BYTES_PER_TOKEN;
  if (bytes.length <= room) return text;
  const head = decodeWhole(bytes.subarray(0, Math.ceil(room / 2)));
  const tail = decodeWhole(bytes.subarray(bytes.length - Math.floor(room / 2)));
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  const removed = tokensOf(text) - maxTokens;
  return (
    `Warning: truncated output (original token count: ${tokensOf(text)})\nTotal output lines: ${lines}\n\n` +
    `${head}…${removed} tokens truncated…${tail}`
  );
}

/** The text of bytes that were cut out of a text, without the halves of characters at the two ends. */
function decodeWhole(bytes: Buffer): string {
  return bytes.toString('utf8').replaceAll(/^\ufffd+|\ufffd+$/g, '');
}
