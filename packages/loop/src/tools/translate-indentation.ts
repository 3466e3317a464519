import detectIndent from 'detect-indent';

/** Where a text stands: the lines of the file, and the same lines as the model gave them. Same length. */
export type Quoted = { found: readonly string[]; given: readonly string[] };

/**
 * `lines` with the indentation that they have in the file. The file's lines and the model's say how the one becomes the
 * other: by a prefix that all have more or less, or by levels, as from four spaces to a tab. `undefined` where no way
 * fits every line, or where two ways fit and give different lines.
 *
 * @param lines New lines in the indentation of the model.
 * @param file The whole file, whose unit of indentation the new lines get.
 */
export function translateIndentation(
  lines: readonly string[],
  { found, given }: Quoted,
  file: string,
): string[] | undefined {
  const wanted = lines.map((line) => (isBlank(line) ? undefined : indentation(line)));
  const pairs = found.flatMap((line, index): Pair[] =>
    isBlank(line) ? [] : [{ found: indentation(line), given: indentation(given[index] ?? '') }],
  );
  const indents = wanted.filter((indent) => indent !== undefined);
  const unit = unitOf(file, pairs);
  const isOwn = (indent: string) => unit === undefined || levels(indent, unit) !== undefined;
  const shifted = translateAll(indents, byPrefix(pairs));
  const translations = [
    ...(shifted?.every(isOwn) ? [shifted] : []),
    ...(unit === undefined ? [] : byLevels(pairs, indents, unit)),
  ];
  // Lines that are aligned by single spaces have no level; where the shift is certain, they keep their alignment.
  if (translations.length === 0 && shifted && unit !== '\t' && isCertain(pairs) && shifted.every(isSpaces))
    translations.push(shifted);
  const [translation] = translations;
  if (!translation || translations.some((other) => other.some((indent, at) => indent !== translation[at])))
    return undefined;
  let next = 0;
  return lines.map((line, index) => {
    const old = wanted[index];
    if (old === undefined) return '';
    const indent = translation[next] ?? '';
    next += 1;
    return indent + line.slice(old.length);
  });
}

type Pair = { found: string; given: string };
type Translation = (indent: string) => string | undefined;

function translateAll(indents: readonly string[], translate: Translation | undefined): string[] | undefined {
  const translated = translate && indents.map(translate);
  return translated?.every((indent) => indent !== undefined) ? translated : undefined;
}

/** The file's lines have a prefix more than the model's, or less; the same for all. */
function byPrefix(pairs: readonly Pair[]): Translation | undefined {
  const [first] = pairs;
  if (!first) return (indent) => indent;
  if (first.found.endsWith(first.given)) {
    const added = first.found.slice(0, first.found.length - first.given.length);
    if (pairs.every(({ found, given }) => found === added + given)) return (indent) => added + indent;
  }
  if (first.given.endsWith(first.found)) {
    const removed = first.given.slice(0, first.given.length - first.found.length);
    if (pairs.every(({ found, given }) => given === removed + found))
      return (indent) => (indent.startsWith(removed) ? indent.slice(removed.length) : undefined);
  }
  return undefined;
}

/** Whether no other relation than a shift explains the pairs: nothing is shifted, or two depths are by the same. */
function isCertain(pairs: readonly Pair[]): boolean {
  return (
    pairs.every(({ found, given }) => found === given) || new Set(pairs.map(({ given }) => given)).size > 1
  );
}

const SPACES_PER_LEVEL = [2, 3, 4, 8];

/** The model counts levels in another unit than the file. Each unit that fits gives one translation. */
function byLevels(pairs: readonly Pair[], indents: readonly string[], unit: string): string[][] {
  const own = pairs.map(({ found }) => levels(found, unit));
  const [first] = pairs;
  const [firstLevel] = own;
  if (!first || firstLevel === undefined) return [];
  const all = [...pairs.map(({ given }) => given), ...indents];
  const isTabs = all.every((indent) => /^\t*$/.test(indent));
  if (!isTabs && !all.every(isSpaces)) return [];
  const units = isTabs ? [1] : SPACES_PER_LEVEL;
  const base = first.given.length;
  const fitting = units.filter(
    (size) =>
      pairs.every(({ given }, at) => given.length - base === size * ((own[at] ?? -1) - firstLevel)) &&
      indents.every((indent) => Number.isInteger((indent.length - base) / size)),
  );
  // The widest step that fits is the model's unit. So is the width of a tab, where the match has tabs.
  const rendered = fitting.find((size) => unit === '\t' && size * firstLevel === base);
  return [fitting.at(-1), rendered].flatMap((size) => {
    if (size === undefined) return [];
    const translated = translateAll(indents, (indent) => {
      const level = (indent.length - base) / size + firstLevel;
      return level < 0 ? undefined : unit.repeat(level);
    });
    return translated ? [translated] : [];
  });
}

/** One level in the file: a tab, or some spaces. `undefined` where nothing is indented. */
function unitOf(file: string, pairs: readonly Pair[]): string | undefined {
  const matched = pairs.map(({ found }) => found).filter((indent) => indent !== '');
  const { indent } = detectIndent(file);
  if (matched.length === 0) return indent || undefined;
  if (matched.every((found) => found.startsWith('\t'))) return '\t';
  return indent === '\t' || indent === ''
    ? ' '.repeat(Math.min(...matched.map(({ length }) => length)))
    : indent;
}

function levels(indent: string, unit: string): number | undefined {
  const count = indent.length / unit.length;
  return Number.isInteger(count) && indent === unit.repeat(count) ? count : undefined;
}

/** The blanks at the start. The one before the star of a block comment belongs to the comment. */
function indentation(line: string): string {
  return /^((?:\t| {2})*) \*/.exec(line)?.[1] ?? /^[ \t]*/.exec(line)?.[0] ?? '';
}

const isBlank = (line: string): boolean => line.trim() === '';
const isSpaces = (indent: string): boolean => /^ *$/.test(indent);
