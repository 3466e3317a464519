/** Where the entries of an object or array literal stand in TypeScript. Reads only as much of the language as that needs. */

/** An entry: the offsets of its key (of the value in an array) and of its value. */
export type LiteralEntry = { key: string; offset: number; value: number };

const SPACE = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const KEY = /(?:(?<quote>['"])(?<quoted>[^'"\n]*)\k<quote>|(?<plain>[\w$]+))(?=(?:\s|\/\*[\s\S]*?\*\/)*:)/y;
const STRING = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`/y;
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y;

const matchAt = (pattern: RegExp, text: string, offset: number): RegExpExecArray | null => {
  pattern.lastIndex = offset;
  return pattern.exec(text);
};

const afterSpace = (text: string, offset: number): number =>
  offset + (matchAt(SPACE, text, offset)?.[0].length ?? 0);

/** The entries of the literal that begins at `offset`, in order; empty where there is none. */
export function literalsIn(text: string, offset: number | undefined): LiteralEntry[] {
  const opening = offset === undefined ? '' : text[offset];
  if (offset === undefined || (opening !== '{' && opening !== '[')) return [];
  const entries: LiteralEntry[] = [];
  let at = afterSpace(text, offset + 1);
  while (at < text.length && text[at] !== '}' && text[at] !== ']') {
    const key = opening === '{' ? matchAt(KEY, text, at) : null;
    const name = key?.groups?.quoted ?? key?.groups?.plain;
    if (key && name !== undefined) {
      const value = afterSpace(text, text.indexOf(':', at + key[0].length) + 1);
      entries.push({ key: name, offset: at, value });
      at = value;
    } else if (opening === '[') entries.push({ key: String(entries.length), offset: at, value: at });
    at = literalAt(text, at);
    at = afterSpace(text, text[at] === ',' ? at + 1 : at);
  }
  return entries;
}

/** The end of the expression that begins at `offset`: the next comma or closing bracket that is not inside of it. */
export function literalAt(text: string, offset: number): number {
  let depth = 0;
  let at = offset;
  while (at < text.length) {
    const skipped = matchAt(STRING, text, at) ?? matchAt(COMMENT, text, at);
    if (skipped) {
      at += skipped[0].length;
      continue;
    }
    const character = text[at] ?? '';
    if (depth === 0 && /[,)\]};]/.test(character)) return at;
    if ('([{'.includes(character)) depth += 1;
    if (')]}'.includes(character)) depth -= 1;
    at += 1;
  }
  return at;
}
