/** A value of a JSON text and where it stands: `text.slice(start, end)` is the value as it is written. */
export type JsonNode = { start: number; end: number } & (
  | { kind: 'object'; members: ReadonlyMap<string, JsonNode> }
  | { kind: 'array'; items: readonly JsonNode[] }
  | { kind: 'scalar' }
);

/** Finds the values of a JSON text, so that an edit can keep the rest. Throws a `SyntaxError` for invalid JSON. */
export function layOutJson(text: string): JsonNode {
  // What follows may then take the text to be well formed.
  JSON.parse(text);
  return readValue(text, 0);
}

const SPACE = /\s*/y;
const SCALAR = /[^\s{}[\],:"]+/y;

/** A string, a punctuation mark, or a number or word. */
function tokenAt(text: string, from: number): { start: number; end: number } {
  const start = endOf(SPACE, text, from);
  if (text[start] === '"') return { start, end: endOfString(text, start) };
  return { start, end: Math.max(endOf(SCALAR, text, start), start + 1) };
}

function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : from;
}

/** Not by a pattern: strings hold images of megabytes. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function readValue(text: string, from: number): JsonNode {
  const { start, end } = tokenAt(text, from);
  if (text[start] === '{') return readObject(text, start);
  if (text[start] === '[') return readArray(text, start);
  return { kind: 'scalar', start, end };
}

function readObject(text: string, start: number): JsonNode {
  const members = new Map<string, JsonNode>();
  let at = start + 1;
  for (;;) {
    const token = tokenAt(text, at);
    at = token.end;
    if (text[token.start] === '}') return { kind: 'object', start, end: at, members };
    if (text[token.start] === ',') continue;
    const colon = tokenAt(text, at);
    const value = readValue(text, colon.end);
    members.set(JSON.parse(text.slice(token.start, token.end)), value);
    at = value.end;
  }
}

function readArray(text: string, start: number): JsonNode {
  const items: JsonNode[] = [];
  let at = start + 1;
  for (;;) {
    const token = tokenAt(text, at);
    if (text[token.start] === ']') return { kind: 'array', start, end: token.end, items };
    if (text[token.start] === ',') {
      at = token.end;
      continue;
    }
    const item = readValue(text, token.start);
    items.push(item);
    at = item.end;
  }
}

export type Splice = { start: number; end: number; text: string };

/** Replaces parts of a text. They must not overlap. */
export function splice(text: string, changes: readonly Splice[]): string {
  const lastFirst = changes.toSorted((one, other) => other.start - one.start);
  return lastFirst.reduce(
    (changed, { start, end, text: put }) => changed.slice(0, start) + put + changed.slice(end),
    text,
  );
}
