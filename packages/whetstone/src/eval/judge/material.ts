import { isJsonObject, type JsonValue } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { JudgedPart } from './judgement.ts';

/** A quote of fewer characters is found by chance. A text that is shorter is quoted whole. */
const SHORTEST_QUOTE = 12;
/** More characters than that are left out of the material. */
const LONGEST_MATERIAL = 400_000;
/** Where the material is too long, texts are cut in their middle, to the first of these lengths with which it fits. */
const LONGEST_TEXTS = [60_000, 6000];

/** The material as the judge gets it: one line of JSON per part. */
export type Material = {
  lines: string[];
  /** How many parts the judge does not see, because they did not fit. */
  leftOut: number;
  /** How many characters it does not see of the texts in the other parts. */
  cutOut: number;
  find(quote: string): FoundQuote;
};

/** `event`: the index of the event that the quote is from. Absent: it is from a part that is not an event. */
export type FoundQuote = { found: true; event?: number } | { found: false; isTooShort: boolean };

/** Parts that say nothing of what the agent did. */
const UNSEEN = new Set(['usage', 'session.started', 'raw']);

export function materialOf(parts: readonly JudgedPart[]): Material {
  const seen = parts.filter((part) => !('event' in part && UNSEEN.has(part.event.type))).map(fieldsOf);
  const kept = withinLimit(seen);
  const leftOut = seen.length - kept.length;
  const lines = kept.map(({ line }) => line);
  if (leftOut > 0) lines.splice(Math.ceil(lines.length / 2), 0, JSON.stringify({ left_out: leftOut }));
  const searched = kept.map((part) => ({
    ...part,
    line: flat(part.line),
    texts: textsIn(part.content).map(flat),
  }));
  return {
    lines,
    leftOut,
    cutOut: kept.reduce((total, part) => total + part.cutOut, 0),
    find(quote) {
      const wanted = flat(quote);
      const isTooShort = wanted.length < SHORTEST_QUOTE;
      const found = searched.filter(({ texts, line, frame }) =>
        isTooShort
          ? wanted !== '' && texts.includes(wanted)
          : texts.some((text) => text.includes(wanted)) ||
            line.includes(wanted, Math.max(0, frame.length + SHORTEST_QUOTE - wanted.length)),
      );
      if (found.length === 0) return { found: false, isTooShort };
      // What the agent did is the better evidence than what it was told in the same words.
      return { found: true, ...present({ event: found.find(({ index }) => index !== undefined)?.index }) };
    },
  };
}

type Fields = { [name: string]: JsonValue };

/** A part. `head`: the fields that its line begins with, which say nothing of what was done. */
type Part = { index?: number; head: Fields; content: Fields };
type Shown = Part & { frame: string; line: string; cutOut: number };

function fieldsOf(part: JudgedPart): Part {
  if ('user' in part) return { head: { type: 'message', role: 'user' }, content: { text: part.user } };
  if ('given' in part) return { head: { type: 'given by the test' }, content: { text: part.given } };
  const { type, at: _at, turn: _turn, source: _source, ...fields } = part.event;
  const { role, callId, ...content } = fields as Fields;
  return { index: part.index, head: { event: part.index, type, ...present({ role, callId }) }, content };
}

/** A part as the judge sees it, with texts up to a length. */
function show(part: Part, longest: number): Shown {
  let cutOut = 0;
  const shortened = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(shortened);
    if (isJsonObject(value)) return shortenedFields(value);
    if (typeof value !== 'string' || value.length <= longest) return value;
    const more = value.length - longest;
    cutOut += more;
    const half = longest / 2;
    const [head, tail] = [value.slice(0, half).toWellFormed(), value.slice(-half).toWellFormed()];
    return `${head}\n[${more} characters left out]\n${tail}`;
  };
  const shortenedFields = (fields: Fields): Fields =>
    Object.fromEntries(Object.entries(fields).map(([name, item]) => [name, shortened(item)]));
  const content = shortenedFields(part.content);
  const frame = JSON.stringify(part.head).slice(0, -1);
  return { ...part, content, frame, line: JSON.stringify({ ...part.head, ...content }), cutOut };
}

/** All parts, whole if they fit, or with shortened texts; else without those in the middle that do not fit. */
function withinLimit(parts: readonly Part[]): Shown[] {
  let shown: Shown[] = [];
  for (const longest of [Number.POSITIVE_INFINITY, ...LONGEST_TEXTS]) {
    shown = parts.map((part) => show(part, longest));
    if (shown.reduce((total, { line }) => total + line.length, 0) <= LONGEST_MATERIAL) return shown;
  }
  const head: Shown[] = [];
  const tail: Shown[] = [];
  let left = LONGEST_MATERIAL;
  for (let [from, to] = [0, shown.length - 1]; from <= to; ) {
    const isHead = head.length <= tail.length;
    const part = shown[isHead ? from++ : to--];
    // One that is too long must not hide those behind it.
    if (!part || part.line.length > left) continue;
    left -= part.line.length;
    if (isHead) head.push(part);
    else tail.unshift(part);
  }
  return [...head, ...tail];
}

const textsIn = (value: JsonValue): string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap((part) => textsIn(part as JsonValue))
      : [];

/** Models change line breaks and spaces when they quote. */
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
