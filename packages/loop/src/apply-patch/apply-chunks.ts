import { lineEndOf, plainPunctuation } from '../tools/text-file.ts';
import type { ChunkLine, PatchChunk } from './parse-patch.ts';

/** A chunk that does not fit the file. */
export class PatchMismatchError extends Error {
  override readonly name = 'PatchMismatchError';
}

export type PatchedText = {
  text: string;
  /** Chunks without any line to look for: they went to the end of the file. */
  addedAtEnd: number;
};

/**
 * The text with all chunks applied. Lines that the patch does not remove keep their bytes, added ones take the line end
 * of the file's first line, and the last line gets one where it had none.
 */
export function applyChunks(text: string, chunks: readonly PatchChunk[], path: string): PatchedText {
  const lines = splitLines(text);
  const contents = lines.map((line) => line.content);
  const edits: Edit[] = [];
  let cursor = 0;
  let addedAtEnd = 0;
  for (const chunk of chunks) {
    const start = seekContexts(contents, chunk.contexts, cursor, path);
    if (chunk.changes.every((change) => change.kind === 'add')) {
      edits.push({ start: contents.length, changes: chunk.changes });
      addedAtEnd += 1;
      continue;
    }
    const edit = locate(contents, chunk, start, path);
    if (edit.start < cursor)
      throw new PatchMismatchError(`Chunks overlap or are not in the order of the file in ${path}`);
    edits.push(edit);
    cursor = edit.start + matchedLines(edit.changes).length;
  }
  return { text: render(lines, edits, lineEndOf(text)), addedAtEnd };
}

type Line = { content: string; end: string };

function splitLines(text: string): Line[] {
  if (text === '') return [];
  const pieces = text.split('\n');
  const last = pieces.pop() ?? '';
  const lines = pieces.map((piece) =>
    piece.endsWith('\r') ? { content: piece.slice(0, -1), end: '\r\n' } : { content: piece, end: '\n' },
  );
  if (last !== '') lines.push({ content: last, end: '' });
  return lines;
}

/** Changes whose first matched line is `start`. */
type Edit = { start: number; changes: readonly ChunkLine[] };

type ContextPosition = {
  /** Where the search for the chunk begins. */
  after: number;
  /** The line of the last context, which some models repeat as the first line of the chunk. */
  at: number | undefined;
};

function seekContexts(
  contents: readonly string[],
  contexts: readonly string[],
  cursor: number,
  path: string,
): ContextPosition {
  let position: ContextPosition = { after: cursor, at: undefined };
  for (const context of contexts) {
    const found = seek(contents, [context], position.after, false);
    if (found === undefined) throw new PatchMismatchError(`Failed to find context '${context}' in ${path}`);
    position = { after: found + 1, at: found };
  }
  return position;
}

function locate(
  contents: readonly string[],
  chunk: PatchChunk,
  position: ContextPosition,
  path: string,
): Edit {
  const candidates = [chunk.changes, withoutLastEmptyLine(chunk.changes)].filter(
    (changes) => changes !== undefined,
  );
  const starts = [position.after, position.at].filter((start) => start !== undefined);
  for (const start of starts) {
    for (const changes of candidates) {
      const found = seek(contents, matchedLines(changes), start, chunk.endOfFile);
      if (found !== undefined) return { start: found, changes };
    }
  }
  throw new PatchMismatchError(
    `Failed to find expected lines in ${path}:\n${matchedLines(chunk.changes).join('\n')}`,
  );
}

function matchedLines(changes: readonly ChunkLine[]): string[] {
  return changes.filter((change) => change.kind !== 'add').map((change) => change.text);
}

/** A blank line between two sections reads as a last line of context that the file may not have. */
function withoutLastEmptyLine(changes: readonly ChunkLine[]): ChunkLine[] | undefined {
  const last = changes.findLastIndex((change) => change.kind !== 'add');
  const line = changes[last];
  if (line?.text !== '') return undefined;
  // With additions below it, it was meant to stand between them and what is above.
  const kept: ChunkLine[] =
    line.kind === 'context' && last < changes.length - 1 ? [{ kind: 'add', text: '' }] : [];
  return changes.toSpliced(last, 1, ...kept);
}

/** From strict to lax; each is tried on the whole rest of the file, so that an exact match further down wins. */
const PASSES: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) => plainPunctuation(line.trim()),
];

function seek(
  contents: readonly string[],
  wanted: readonly string[],
  from: number,
  endOfFile: boolean,
): number | undefined {
  const last = contents.length - wanted.length;
  const first = endOfFile ? last : from;
  if (last < 0 || first < 0) return undefined;
  for (const pass of PASSES) {
    const target = wanted.map(pass);
    for (let index = first; index <= last; index += 1) {
      if (target.every((line, offset) => pass(contents[index + offset] ?? '') === line)) return index;
    }
  }
  return undefined;
}

function render(lines: readonly Line[], edits: readonly Edit[], lineEnd: string): string {
  const result: Line[] = [];
  let next = 0;
  // Additions at the end of the file may stand before chunks that follow them in the patch.
  for (const { start, changes } of edits.toSorted((a, b) => a.start - b.start)) {
    for (const line of lines.slice(next, start)) result.push(line);
    next = Math.max(next, start);
    for (const change of changes) {
      const line = lines[next];
      if (change.kind === 'add') result.push({ content: change.text, end: lineEnd });
      else {
        next += 1;
        if (change.kind === 'context' && line) result.push(line);
      }
    }
  }
  for (const line of lines.slice(next)) result.push(line);
  return result.map(({ content, end }) => content + (end || lineEnd)).join('');
}
