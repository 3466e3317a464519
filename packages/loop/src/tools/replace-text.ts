import { lineEndOf, plainPunctuation } from '../files/text-file.ts';
import { keptLines } from './kept-lines.ts';
import { type Quoted, translateIndentation } from './translate-indentation.ts';

/** What the match did not look at. Tried in this order; the first level with a match decides. */
export type MatchLevel = 'exact' | 'line ends' | 'trailing whitespace' | 'indentation' | 'punctuation';

export type Replaced =
  | { kind: 'replaced'; text: string; count: number; level: MatchLevel }
  | { kind: 'ambiguous'; count: number }
  /** The indentation of the new text cannot be translated. `found` is what the file has, from line `firstLine` on. */
  | { kind: 'indentation'; found: string; firstLine: number }
  | { kind: 'missing' };

/**
 * Replaces `oldText` by `newText` where it occurs once, or everywhere with `all`. Where it does not occur as it stands,
 * looser comparisons follow, each of which has to be as unique. Lines that both texts have keep the bytes of the file;
 * new lines take its line ends and, after a looser comparison of lines, its indentation.
 */
export function replaceText(text: string, oldText: string, newText: string, all: boolean): Replaced {
  for (const { level, find } of LEVELS) {
    const places = find(text, oldText);
    if (places.length === 0) continue;
    if (places.length > 1 && !all) return { kind: 'ambiguous', count: places.length };
    const ranges = withoutOverlaps(places);
    let result = '';
    let end = 0;
    for (const range of ranges) {
      const found = text.slice(range.start, range.end);
      const inserted = replacement({ text, found, oldText, newText, level });
      if (inserted === undefined) {
        const firstLine = text.slice(0, range.start).split('\n').length;
        return { kind: 'indentation', found, firstLine };
      }
      result += text.slice(end, range.start) + inserted;
      end = range.end;
    }
    return { kind: 'replaced', text: result + text.slice(end), count: ranges.length, level };
  }
  return { kind: 'missing' };
}

/** From the first on, as everywhere where all occurrences of a text are replaced. */
function withoutOverlaps(places: readonly Range[]): Range[] {
  let end = 0;
  return places.filter((place) => {
    if (place.start < end) return false;
    ({ end } = place);
    return true;
  });
}

type Range = { start: number; end: number };

type Level = { level: MatchLevel; find: (text: string, wanted: string) => Range[] };

const LEVELS: readonly Level[] = [
  { level: 'exact', find: occurrences },
  { level: 'line ends', find: occurrencesAcrossLineEnds },
  lineLevel('trailing whitespace', (line) => line.trimEnd()),
  lineLevel('indentation', (line) => line.trim()),
  lineLevel('punctuation', (line) => plainPunctuation(line).trim()),
];

function lineLevel(level: MatchLevel, normalise: (line: string) => string): Level {
  return { level, find: (text, wanted) => lineMatches(text, wanted, normalise) };
}

/** Also those that overlap: which of them is meant is as unclear as with any others. */
function occurrences(text: string, wanted: string): Range[] {
  const ranges: Range[] = [];
  for (let start = text.indexOf(wanted); start >= 0; start = text.indexOf(wanted, start + 1)) {
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
  /** Of positions that grow. */
  const createOriginal = () => {
    let passed = 0;
    return (position: number) => {
      while (passed < removed.length && (removed[passed] ?? 0) < position) passed += 1;
      return position + passed;
    };
  };
  const [startOf, endOf] = [createOriginal(), createOriginal()];
  return occurrences(plain, wanted.replaceAll('\r\n', '\n')).map(({ start, end }) => ({
    start: startOf(start),
    end: endOf(end),
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

/** Runs of whole lines that equal the lines of `wanted` after `normalise`. They may overlap. */
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
  }
  return ranges;
}

type Match = { text: string; found: string; oldText: string; newText: string; level: MatchLevel };

/** What comes in place of `found`; `undefined` where the indentation of a new line cannot be translated. */
function replacement({ text, found, oldText, newText, level }: Match): string | undefined {
  const lineEnd = lineEndOf(text);
  // What matched exactly is what the model sees: in a file with LF, a CR in its new text is meant.
  const foldsEnds = lineEnd === '\r\n' || level !== 'exact';
  const split = (lines: string) => lines.split(foldsEnds ? /\r?\n/ : '\n');
  const there = found.split('\n');
  const given = split(oldText);
  const wanted = split(newText);
  const kept = keptLines(given, wanted);
  const inserted = wanted.filter((_line, index) => kept[index] === undefined);
  const translated =
    level === 'exact' || level === 'line ends'
      ? inserted
      : translateWith(inserted, { found: there.map(withoutEnd), given }, text, kept[0] === undefined);
  if (translated === undefined) return undefined;
  let next = 0;
  return wanted
    .map((_line, index) => {
      const from = kept[index];
      const isLast = index === wanted.length - 1;
      if (from === undefined) {
        const line = translated[next] ?? '';
        next += 1;
        return isLast ? line : line + lineEnd;
      }
      const line = there[from] ?? '';
      if (isLast) return from === there.length - 1 || !foldsEnds ? line : withoutEnd(line);
      return from === there.length - 1 ? withoutEnd(line) + lineEnd : `${line}\n`;
    })
    .join('');
}

/** A text that begins in the middle of a line lacks the indentation of its first line, and so does the new text. */
function translateWith(
  lines: readonly string[],
  { found, given }: Quoted,
  file: string,
  isFirstNew: boolean,
): string[] | undefined {
  const translated = translateIndentation(lines, { found, given }, file);
  const [firstFound = '', ...foundRest] = found;
  const [firstGiven = '', ...givenRest] = given;
  if (translated || givenRest.length === 0 || /^\s/.test(firstGiven)) return translated;
  const rest = { found: foundRest, given: givenRest };
  if (!isFirstNew) return translateIndentation(lines, rest, file);
  const [first = '', ...others] = lines;
  if (/^\s/.test(first)) return undefined;
  const translatedRest = translateIndentation(others, rest, file);
  return translatedRest && [(/^[ \t]*/.exec(firstFound)?.[0] ?? '') + first, ...translatedRest];
}

const withoutEnd = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line);
