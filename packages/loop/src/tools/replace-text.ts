import { lineEndOf, plainPunctuation } from '../files/text-file.ts';

/** What the match did not look at. Tried in this order; the first level with a match decides. */
export type MatchLevel = 'exact' | 'line ends' | 'trailing whitespace' | 'indentation' | 'punctuation';

export type Replaced =
  | { kind: 'replaced'; text: string; count: number; level: MatchLevel }
  | { kind: 'ambiguous'; count: number }
  | { kind: 'missing' };

/**
 * Replaces `oldText` by `newText` where it occurs once, or everywhere with `all`. Where it does not occur as it stands,
 * looser comparisons follow, each of which has to be as unique. Inserted lines take the file's line ends.
 */
export function replaceText(text: string, oldText: string, newText: string, all: boolean): Replaced {
  for (const { level, find, adjust } of LEVELS) {
    const ranges = find(text, oldText);
    if (ranges.length === 0) continue;
    if (ranges.length > 1 && !all) return { kind: 'ambiguous', count: ranges.length };
    let result = '';
    let end = 0;
    for (const range of ranges) {
      const inserted = adjust?.(text.slice(range.start, range.end), oldText, newText) ?? newText;
      result += text.slice(end, range.start) + withLineEnds(inserted, lineEndOf(text));
      end = range.end;
    }
    return { kind: 'replaced', text: result + text.slice(end), count: ranges.length, level };
  }
  return { kind: 'missing' };
}

type Range = { start: number; end: number };

type Level = {
  level: MatchLevel;
  find: (text: string, wanted: string) => Range[];
  /** Fits the new text to what was found in place of the old. */
  adjust?: (found: string, oldText: string, newText: string) => string;
};

const LEVELS: readonly Level[] = [
  { level: 'exact', find: occurrences },
  { level: 'line ends', find: occurrencesAcrossLineEnds },
  lineLevel('trailing whitespace', (line) => line.trimEnd()),
  lineLevel('indentation', (line) => line.trim()),
  lineLevel('punctuation', (line) => plainPunctuation(line).trim()),
];

function lineLevel(level: MatchLevel, normalise: (line: string) => string): Level {
  return { level, find: (text, wanted) => lineMatches(text, wanted, normalise), adjust: adjustIndentation };
}

function occurrences(text: string, wanted: string): Range[] {
  const ranges: Range[] = [];
  for (let start = text.indexOf(wanted); start >= 0; start = text.indexOf(wanted, start + wanted.length)) {
    ranges.push({ start, end: start + wanted.length });
  }
  return ranges;
}

/** Occurrences where CRLF and LF count as the same, as ranges of the original. */
function occurrencesAcrossLineEnds(text: string, wanted: string): Range[] {
  if (!text.includes('\r\n') && !wanted.includes('\r\n')) return [];
  const removed: number[] = [];
  const plain = text.replaceAll('\r\n', (_match, offset: number) => {
    removed.push(offset - removed.length);
    return '\n';
  });
  // `removed` holds, in positions of `plain`, the line breaks that lost a carriage return.
  let passed = 0;
  const original = (position: number) => {
    while (passed < removed.length && (removed[passed] ?? 0) < position) passed += 1;
    return position + passed;
  };
  return occurrences(plain, wanted.replaceAll('\r\n', '\n')).map(({ start, end }) => ({
    start: original(start),
    end: original(end),
  }));
}

type Line = { content: string; start: number; end: number };

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start <= text.length; ) {
    const next = text.indexOf('\n', start);
    const end = next < 0 ? text.length : next;
    const content = text.slice(start, end);
    lines.push({ content: content.endsWith('\r') ? content.slice(0, -1) : content, start, end });
    start = end + 1;
  }
  return lines;
}

/** Runs of whole lines that equal the lines of `wanted` after `normalise`. They do not overlap. */
function lineMatches(text: string, wanted: string, normalise: (line: string) => string): Range[] {
  const target = linesOf(wanted.endsWith('\n') ? wanted.slice(0, -1) : wanted).map(({ content }) =>
    normalise(content),
  );
  // Without anything but blanks every blank line would match.
  if (target.every((line) => line === '')) return [];
  const lines = linesOf(text);
  const normalised = lines.map(({ content }) => normalise(content));
  const ranges: Range[] = [];
  for (let index = 0; index + target.length <= lines.length; index += 1) {
    if (!target.every((line, offset) => line === normalised[index + offset])) continue;
    const first = lines[index];
    const last = lines[index + target.length - 1];
    if (first === undefined || last === undefined) continue;
    const contentEnd = last.start + last.content.length;
    const end = wanted.endsWith('\n') ? Math.min(last.end + 1, text.length) : contentEnd;
    ranges.push({ start: first.start, end });
    index += target.length - 1;
  }
  return ranges;
}

/** Moves the new text by what the old text was off in its indentation, where that is the same for all its lines. */
function adjustIndentation(foundText: string, oldText: string, newText: string): string {
  const found = linesOf(foundText).map(({ content }) => content);
  const given = linesOf(oldText).map(({ content }) => content);
  const pairs = given.map((line, index) => ({
    given: indentation(line),
    found: indentation(found[index] ?? ''),
  }));
  const filled = pairs.filter((_pair, index) => given[index]?.trim() !== '');
  const [first] = filled;
  if (first === undefined) return newText;
  const added = first.found.endsWith(first.given)
    ? first.found.slice(0, first.found.length - first.given.length)
    : undefined;
  if (added !== undefined && filled.every((pair) => pair.found === added + pair.given)) {
    return mapLines(newText, (line) => (line.trim() === '' ? line : added + line));
  }
  const removed = first.given.endsWith(first.found)
    ? first.given.slice(0, first.given.length - first.found.length)
    : undefined;
  if (removed !== undefined && filled.every((pair) => pair.given === removed + pair.found)) {
    return mapLines(newText, (line) => (line.startsWith(removed) ? line.slice(removed.length) : line));
  }
  return newText;
}

function indentation(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

function mapLines(text: string, change: (line: string) => string): string {
  return text.split('\n').map(change).join('\n');
}

function withLineEnds(text: string, lineEnd: '\n' | '\r\n'): string {
  return lineEnd === '\n' ? text : text.replaceAll(/\r?\n/g, '\r\n');
}
