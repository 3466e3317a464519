import { readFile, stat } from 'node:fs/promises';
import { codeOf, messageOf } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { Diagnostic, Frame } from './diagnostic.ts';
import { meantPath } from './meant-path.ts';

/** A text file that diagnostics can point into. */
export type SourceText = { file: string; text: string };

export type Span = { offset: number; length: number };

/** What a diagnostic says, without where. */
export type Finding = Pick<Diagnostic, 'path' | 'message' | 'severity'> & { hint?: string | undefined };

const MAX_SOURCE_BYTES = 8 * 1024 * 1024;

/** Reads a UTF-8 text file of at most 8 MiB; otherwise says why not, as a clause about the file. */
export async function readSourceText(
  file: string,
): Promise<{ kind: 'text'; source: SourceText } | { kind: 'unreadable'; reason: string }> {
  try {
    const status = await stat(file);
    if (!status.isFile()) return { kind: 'unreadable', reason: 'is not a regular file' };
    if (status.size > MAX_SOURCE_BYTES) return { kind: 'unreadable', reason: 'is larger than 8 MiB' };
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
    return { kind: 'text', source: { file, text } };
  } catch (error) {
    return { kind: 'unreadable', reason: unreadableReason(file, error) };
  }
}

function unreadableReason(file: string, error: unknown): string {
  const code = codeOf(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    const meant = meantPath(file);
    return meant ? `does not exist: ${meant}` : 'does not exist';
  }
  if (code === 'EACCES' || code === 'EPERM') return 'cannot be read (permission denied)';
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'is not UTF-8 text';
  return `cannot be read (${messageOf(error)})`;
}

/** A diagnostic at a span of a source. `leads` are offsets of the keys above it, shown before the line itself. */
export function diagnosticAt(
  source: SourceText,
  span: Span,
  finding: Finding,
  leads: number[] = [],
): Diagnostic {
  const { line, column, text } = positionAt(source.text, span.offset);
  const leadLines = leads
    .map((offset) => positionAt(source.text, offset))
    .filter((lead) => lead.line < line)
    .map((lead) => ({ number: lead.line, text: lead.text }));
  const frame: Frame = {
    lines: [...leadLines, { number: line, text }],
    start: column - 1,
    length: Math.max(1, Math.min(span.length, text.length - column + 1)),
  };
  return { ...unplaced(source.file, finding), line, column, frame };
}

/** A diagnostic about a file as a whole, or at a place in it that is not known. */
export function unplaced(file: string, { path, message, severity, hint }: Finding): Diagnostic {
  return { file, path, message, severity, ...present({ hint }) };
}

function positionAt(text: string, offset: number): { line: number; column: number; text: string } {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const end = text.indexOf('\n', start);
  const line = text.slice(0, start).split('\n').length;
  return {
    line,
    column: offset - start + 1,
    text: text.slice(start, end === -1 ? undefined : end).replace(/\r$/, ''),
  };
}
