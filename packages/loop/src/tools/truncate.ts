import { present } from '@whetstone/events/present';
import type { SessionConfig } from '../control/session-config.ts';

/** How much of a tool's output the model reads, and which end of it. */
export type OutputLimit = {
  /** UTF-16 code units of the result, with the marker that stands for what is cut. */
  maxChars: number;
  /** Lines of the result, with the marker. Default: no limit. */
  maxLines?: number;
  mode: 'head_tail' | 'head' | 'tail';
  /** Keep a longer output whole in a file. Not needed where the model can get it again in parts. Default true. */
  spill?: boolean;
};

/** The limits of loop spec 5.2 and 5.3, except that searches keep their head, which has the best matches. */
const LIMITS: Readonly<Record<string, OutputLimit>> = {
  read_file: { maxChars: 50_000, mode: 'head_tail' },
  shell: { maxChars: 30_000, maxLines: 256, mode: 'head_tail' },
  grep: { maxChars: 20_000, maxLines: 200, mode: 'head' },
  glob: { maxChars: 20_000, maxLines: 500, mode: 'head' },
  edit_file: { maxChars: 10_000, mode: 'tail' },
  apply_patch: { maxChars: 10_000, mode: 'tail' },
  write_file: { maxChars: 1_000, mode: 'tail' },
  spawn_agent: { maxChars: 20_000, mode: 'head_tail' },
};
const OTHER: OutputLimit = { maxChars: 30_000, mode: 'head_tail' };

/** The limit of one tool: the host's numbers, else the tool's own, else the table's. */
export function outputLimit(
  name: string,
  own: OutputLimit | undefined,
  { toolOutputLimits, toolLineLimits }: Pick<SessionConfig, 'toolOutputLimits' | 'toolLineLimits'>,
): OutputLimit {
  const limit = own ?? ownField(LIMITS, name) ?? OTHER;
  const maxChars = ownField(toolOutputLimits, name);
  const maxLines = ownField(toolLineLimits, name);
  if (maxChars === undefined && maxLines === undefined) return limit;
  return { ...limit, ...present({ maxChars, maxLines }) };
}

/** A tool may be named `constructor`, which every object has. */
function ownField<T>(fields: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** What a tool left out of the text already, counted like it. `lines` is absent where nobody has counted them. */
export type Dropped = { characters: number; lines?: number };

/** What is known of the whole output. `outputFile` has it, and the marker names it because the model can read it. */
export type Arrived = { outputFile?: string | undefined; dropped?: Dropped | undefined };

/** Whether the model gets less than `text`. */
export function exceedsLimit(text: string, { maxChars, maxLines }: OutputLimit): boolean {
  return text.length > maxChars || (maxLines !== undefined && countLines(text, 0, text.length) > maxLines);
}

/**
 * Cuts `text` to the limit in one pass: both bounds are measured on the original, so that one marker can tell what is
 * gone. The result, marker included, is within the bounds; no cut splits a character, and it prefers line ends.
 */
export function truncateOutput(
  text: string,
  limit: OutputLimit,
  { outputFile, dropped }: Arrived = {},
): string {
  if (!exceedsLimit(text, limit)) return text;
  const count = (chars: number, lines: number): Removed => ({
    chars: chars + (dropped?.characters ?? 0),
    lines: lines + (dropped?.lines ?? 0),
    isLeast: dropped !== undefined && dropped.lines === undefined,
  });
  const room = limit.maxChars - marker(count(text.length, text.length), limit.mode, outputFile).length;
  if (room <= 0) return cutHead(text, limit.maxChars);
  const share = HEAD_SHARE[limit.mode];
  const lineRoom = limit.maxLines === undefined ? undefined : Math.max(0, limit.maxLines - MARKER_LINES);
  const headChars = Math.ceil(room * share);
  const headLines = lineRoom === undefined ? undefined : Math.ceil(lineRoom * share);

  const head = headEnd(text, headChars, headLines);
  const tailLines = lineRoom === undefined || headLines === undefined ? undefined : lineRoom - headLines;
  const tail = Math.max(head, tailStart(text, room - headChars, tailLines));
  const cut = marker(count(tail - head, countLines(text, head, tail)), limit.mode, outputFile);
  return text.slice(0, head) + cut + text.slice(tail);
}

const HEAD_SHARE = { head: 1, head_tail: 0.5, tail: 0 };

const MARKER_LINES = 5;

type Removed = { chars: number; lines: number; isLeast: boolean };

function marker(
  { chars, lines, isLeast }: Removed,
  mode: OutputLimit['mode'],
  outputFile: string | undefined,
): string {
  const where = { head_tail: 'from the middle', head: 'from the end', tail: 'from the beginning' }[mode];
  const whole = outputFile
    ? `Full output: ${outputFile}`
    : 'The full output is available in the event stream.';
  const text =
    `[WARNING: Tool output was truncated. ${chars} characters (${isLeast ? 'at least ' : ''}${lines} lines) were removed ${where}. ${whole} ` +
    'If you need to see specific parts, re-run the tool with more targeted parameters.]';
  return `${mode === 'tail' ? '' : '\n\n'}${text}${mode === 'head' ? '' : '\n\n'}`;
}

function headEnd(text: string, chars: number, lines: number | undefined): number {
  let end = Math.min(chars, text.length);
  if (lines !== undefined) end = Math.min(end, afterLines(text, lines));
  const lineEnd = end > 0 ? text.lastIndexOf('\n', end - 1) + 1 : 0;
  if (end < text.length && end - lineEnd < end / 4) return lineEnd;
  return splitsPair(text, end) ? end - 1 : end;
}

function tailStart(text: string, chars: number, lines: number | undefined): number {
  let start = Math.max(0, text.length - chars);
  if (lines !== undefined) start = Math.max(start, beforeLines(text, lines));
  const lineStart = start === 0 ? 0 : text.indexOf('\n', start - 1) + 1;
  if (lineStart > 0 && lineStart - start < (text.length - start) / 4) return lineStart;
  return splitsPair(text, start) ? start + 1 : start;
}

function afterLines(text: string, count: number): number {
  let end = 0;
  for (let line = 0; line < count; line += 1) {
    const next = text.indexOf('\n', end);
    if (next < 0) return text.length;
    end = next + 1;
  }
  return end;
}

function beforeLines(text: string, count: number): number {
  let start = text.endsWith('\n') ? text.length - 1 : text.length;
  for (let line = 0; line < count; line += 1) {
    const previous = start === 0 ? -1 : text.lastIndexOf('\n', start - 1);
    if (previous < 0) return 0;
    start = previous;
  }
  return count === 0 ? text.length : start + 1;
}

function cutHead(text: string, length: number): string {
  return text.slice(0, splitsPair(text, length) ? length - 1 : length);
}

function splitsPair(text: string, index: number): boolean {
  const before = text.charCodeAt(index - 1);
  const after = text.charCodeAt(index);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}

/** Lines that begin in the range; a final newline begins none. */
function countLines(text: string, from: number, to: number): number {
  if (to <= from) return 0;
  let count = 1;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to - 1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
