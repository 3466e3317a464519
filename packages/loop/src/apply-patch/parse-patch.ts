import { WhetstoneError } from '@whetstone/errors';

/** One section of a patch. Paths are as the patch gives them. */
export type PatchSection =
  | { kind: 'add'; path: string; lines: string[] }
  | { kind: 'delete'; path: string }
  | { kind: 'update'; path: string; moveTo?: string; chunks: PatchChunk[] };

export type PatchChunk = {
  /** Lines to look for, one after the other, before the chunk itself. */
  contexts: string[];
  changes: ChunkLine[];
  endOfFile: boolean;
};

export type ChunkLine = { kind: 'context' | 'remove' | 'add'; text: string };

const BEGIN = '*** Begin Patch';
const END = '*** End Patch';
const ADD = '*** Add File: ';
const DELETE = '*** Delete File: ';
const UPDATE = '*** Update File: ';
const MOVE = '*** Move to: ';
const END_OF_FILE = '*** End of File';
const ENVIRONMENT_ID = '*** Environment ID: ';

/** Parses the v4a format (loop spec, appendix A), as the released Codex reads it, and a little more tolerant. */
export function parsePatch(text: string): PatchSection[] {
  const lines = unwrapHeredoc(text.trim().split(/\r?\n/));
  if (lines[0]?.trim() !== BEGIN)
    throw new WhetstoneError('patch-invalid', `The first line of the patch must be '${BEGIN}'`);
  if (lines.length < 2 || lines.at(-1)?.trim() !== END) {
    throw new WhetstoneError('patch-invalid', `The last line of the patch must be '${END}'`);
  }
  const reader = readLines(lines.slice(1, -1));
  if (reader.peek()?.trim().startsWith(ENVIRONMENT_ID.trim())) reader.take();
  const sections: PatchSection[] = [];
  while (reader.peek() !== undefined) sections.push(parseSection(reader));
  return sections;
}

function unwrapHeredoc(lines: string[]): string[] {
  const opened = ['<<EOF', "<<'EOF'", '<<"EOF"'].includes(lines[0] ?? '');
  return opened && lines.length >= 4 && lines.at(-1)?.endsWith('EOF') ? lines.slice(1, -1) : lines;
}

type LineReader = ReturnType<typeof readLines>;

function readLines(lines: readonly string[]) {
  let next = 0;
  return {
    peek: (ahead = 0): string | undefined => lines[next + ahead],
    take(): string | undefined {
      next += 1;
      return lines[next - 1];
    },
    takeWhile(isWanted: (line: string) => boolean): string[] {
      const from = next;
      while (next < lines.length && isWanted(lines[next] ?? '')) next += 1;
      return lines.slice(from, next);
    },
    fail(message: string): never {
      // The marker line before the body is line 1.
      throw new WhetstoneError('patch-invalid', `line ${next + 2}: ${message}`);
    },
  };
}

function parseSection(reader: LineReader): PatchSection {
  const header = (reader.peek() ?? '').trim();
  const path = (marker: string) => {
    reader.take();
    return header.slice(marker.length).trim();
  };
  if (header.startsWith(ADD)) return { kind: 'add', path: path(ADD), lines: takeAddedLines(reader) };
  if (header.startsWith(DELETE)) return { kind: 'delete', path: path(DELETE) };
  if (header.startsWith(UPDATE)) return parseUpdate(reader, path(UPDATE));
  return reader.fail(
    `'${header}' is not a valid hunk header. Valid hunk headers: '${ADD}{path}', '${DELETE}{path}', '${UPDATE}{path}'`,
  );
}

function takeAddedLines(reader: LineReader): string[] {
  return reader.takeWhile((line) => line.startsWith('+')).map((line) => line.slice(1));
}

function parseUpdate(reader: LineReader, path: string): PatchSection {
  const move = reader.peek()?.startsWith(MOVE) ? reader.take() : undefined;
  const chunks: PatchChunk[] = [];
  for (let line = reader.peek(); line !== undefined && !line.startsWith('***'); line = reader.peek()) {
    // Between chunks a blank line means nothing; before the first changes it is a line of context.
    const isSeparator =
      chunks.length > 0 ? line.trim() === '' : line === '' && isContextMarker(reader.peek(1));
    if (isSeparator) reader.take();
    else chunks.push(parseChunk(reader, chunks.length === 0));
  }
  if (chunks.length === 0) reader.fail(`Update file hunk for path '${path}' is empty`);
  return {
    kind: 'update',
    path,
    chunks,
    ...(move === undefined ? {} : { moveTo: move.slice(MOVE.length).trim() }),
  };
}

function parseChunk(reader: LineReader, isFirst: boolean): PatchChunk {
  const markers = reader.takeWhile(isContextMarker);
  if (markers.length === 0 && !isFirst) {
    reader.fail(`Expected update hunk to start with a @@ context marker, got: '${reader.peek()}'`);
  }
  const contexts = markers.map((marker) => marker.slice(3)).filter((context) => context.trim() !== '');
  const changes = reader.takeWhile(isChange).map(toChange);
  const line = reader.peek();
  if (changes.length === 0 && (line === undefined || line === END_OF_FILE))
    return reader.fail('Update hunk does not contain any lines');
  const endOfFile = line === END_OF_FILE;
  if (endOfFile) reader.take();
  if (changes.length > 0) return { contexts, changes, endOfFile };
  return reader.fail(
    `Unexpected line found in update hunk: '${line}'. Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)`,
  );
}

function isContextMarker(line: string | undefined): line is string {
  return line === '@@' || line?.startsWith('@@ ') === true;
}

const KINDS: Readonly<Record<string, ChunkLine['kind']>> = { ' ': 'context', '-': 'remove', '+': 'add' };

/** Any other line ends the chunk. An empty line is an empty line of context. */
function isChange(line: string): boolean {
  return line === '' || line.charAt(0) in KINDS;
}

function toChange(line: string): ChunkLine {
  return { kind: KINDS[line.charAt(0)] ?? 'context', text: line.slice(1) };
}
