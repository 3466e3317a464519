import { WhetstoneError } from '@whetstone/errors';
import { lineEndOf, plainPunctuation } from '../files/text-file.ts';
import type { ChunkLine, PatchChunk } from './parse-patch.ts';

/**
 * The text with all chunks applied. Kept lines keep their bytes. New lines, and a last line without an end, end as the
 * first line does. `addedAtEnd`: number of chunks without any line to look for, which went to the end of the file.
 */
export function applyChunks(text: string, chunks: readonly PatchChunk[], path: string) {
  const lines = splitLines(text);
  const contents = lines.map((line) => line.content);
  const edits: Edits = { removed: new Set(), added: new Map() };
  let cursor = 0;
  let addedAtEnd = 0;
  for (const chunk of chunks) {
    const position = seekContexts(contents, chunk.contexts, cursor, path);
    const match = locate(contents, chunk, position, path);
    if (match.start === undefined) {
      collectEdits(edits, contents.length, match.changes);
      cursor = position.after;
      addedAtEnd += 1;
      continue;
    }
    if (match.start < cursor) throw mismatch(`Chunks overlap or are not in the order of the file in ${path}`);
    cursor = collectEdits(edits, match.start, match.changes);
  }
  return { text: render(lines, edits, lineEndOf(text)), addedAtEnd };
}

/** By index into the lines of the original. Added lines go before the line of their index. */
type Edits = { removed: Set<number>; added: Map<number, string[]> };

/** Collects the changes of a chunk that matches from line `start` on. Returns the line after the match. */
function collectEdits(edits: Edits, start: number, changes: readonly ChunkLine[]): number {
  let index = start;
  // What replaces a run of lines goes to the run's beginning, before what others add after it.
  let runStart = start;
  for (const { kind, text } of changes) {
    if (kind === 'add') {
      const added = edits.added.get(runStart) ?? [];
      added.push(text);
      edits.added.set(runStart, added);
      continue;
    }
    if (kind === 'remove') edits.removed.add(index);
    index += 1;
    if (kind === 'context') runStart = index;
  }
  return index;
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

type ChunkMatch = {
  /** `undefined` where the chunk has nothing to look for. */
  start: number | undefined;
  changes: readonly ChunkLine[];
};

type ContextPosition = {
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
    if (found === undefined) throw mismatch(`Failed to find context '${context}' in ${path}`);
    position = { after: found + 1, at: found };
  }
  return position;
}

function locate(
  contents: readonly string[],
  chunk: PatchChunk,
  position: ContextPosition,
  path: string,
): ChunkMatch {
  if (matchedLines(chunk.changes).length === 0) return { start: undefined, changes: chunk.changes };
  for (const start of [position.after, position.at]) {
    for (const changes of [chunk.changes, withoutLastEmptyLine(chunk.changes)]) {
      if (start === undefined || changes === undefined) continue;
      const wanted = matchedLines(changes);
      // Only the missing empty line was to be found, and an empty match has no position.
      if (wanted.length === 0 && position.at === undefined) return { start: undefined, changes };
      const found = seek(contents, wanted, start, chunk.endOfFile);
      if (found !== undefined) return { start: found, changes };
    }
  }
  throw mismatch(`Failed to find expected lines in ${path}:\n${matchedLines(chunk.changes).join('\n')}`);
}

const mismatch = (message: string) => new WhetstoneError('patch-mismatch', message);

function matchedLines(changes: readonly ChunkLine[]): string[] {
  return changes.filter((change) => change.kind !== 'add').map((change) => change.text);
}

/** Without the last empty line: a blank line between sections reads as context, which the file may not have. */
function withoutLastEmptyLine(changes: readonly ChunkLine[]): ChunkLine[] | undefined {
  const last = changes.findLastIndex((change) => change.kind !== 'add');
  const line = changes[last];
  if (line?.text !== '') return undefined;
  // With additions below it, it was meant to separate them from what is above.
  const kept: ChunkLine[] = line.kind === 'context' ? [{ kind: 'add', text: '' }] : [];
  const reduced = changes.toSpliced(last, 1, ...kept);
  const end = reduced.findLastIndex((change) => change.kind !== 'remove');
  const replacement = reduced[end];
  if (replacement?.text !== '') return reduced;
  const removal: ChunkLine[] = replacement.kind === 'context' ? [{ kind: 'remove', text: '' }] : [];
  return reduced.toSpliced(end, 1, ...removal);
}

/** From strict to lax. Each is tried on the whole rest of the file, so that an exact match further down wins. */
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
  const first = endOfFile && wanted.length > 0 ? Math.max(last, from) : from;
  if (last < 0 || first < 0) return undefined;
  for (const pass of PASSES) {
    const target = wanted.map(pass);
    for (let index = first; index <= last; index += 1) {
      if (target.every((line, offset) => pass(contents[index + offset] ?? '') === line)) return index;
    }
  }
  return undefined;
}

function render(lines: readonly Line[], { removed, added }: Edits, lineEnd: string): string {
  const result: string[] = [];
  const add = (index: number) => {
    for (const text of added.get(index) ?? []) result.push(text + lineEnd);
  };
  for (const [index, { content, end }] of lines.entries()) {
    add(index);
    if (!removed.has(index)) result.push(content + (end || lineEnd));
  }
  add(lines.length);
  return result.join('');
}
