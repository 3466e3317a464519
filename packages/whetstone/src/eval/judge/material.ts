import { isJsonObject, type JsonValue } from '@whetstone/events';
import type { JudgedPart } from './judgement.ts';

/** Longer texts of one part are cut in their middle. */
const LONGEST_TEXT = 6000;
/** More characters than that are left out of the middle of the material. */
const LONGEST_MATERIAL = 400_000;

/** The material as the judge gets it: one line of JSON per part. */
export type Material = {
  lines: string[];
  /** How many parts were left out, because there were too many. */
  leftOut: number;
  /** The index of the event that a quote is from; `undefined`: from a part without one. `null`: the quote is nowhere. */
  find(quote: string): number | undefined | null;
};

/** Parts that say nothing of what the agent did. */
const UNSEEN = new Set(['usage', 'session.started', 'raw']);

export function materialOf(parts: readonly JudgedPart[]): Material {
  const shown = parts
    .filter((part) => !('event' in part && UNSEEN.has(part.event.type)))
    .map((part) => {
      const value = shortened(jsonOf(part));
      return { index: 'index' in part ? part.index : undefined, line: JSON.stringify(value), value };
    });
  const kept = withinLimit(shown);
  const leftOut = shown.length - kept.length;
  const texts = kept.map(({ index, line, value }) => ({ index, texts: [line, ...textsIn(value)].map(flat) }));
  const lines = kept.map(({ line }) => line);
  if (leftOut > 0) lines.splice(Math.ceil(lines.length / 2), 0, JSON.stringify({ left_out: leftOut }));
  return {
    lines,
    leftOut,
    find(quote) {
      const wanted = flat(quote);
      if (wanted === '') return null;
      const found = texts.filter((one) => one.texts.some((text) => text.includes(wanted)));
      // What the agent did is the better evidence than what it was told in the same words.
      const event = found.find(({ index }) => index !== undefined);
      return found.length === 0 ? null : event?.index;
    },
  };
}

function jsonOf(part: JudgedPart): JsonValue {
  if ('user' in part) return { type: 'message', role: 'user', text: part.user };
  if ('given' in part) return { type: 'given by the test', text: part.given };
  // In the order of `events.jsonl`, so that a stored event has the same line.
  const { type, at: _at, turn: _turn, source: _source, ...fields } = part.event;
  return { event: part.index, type, ...fields } as JsonValue;
}

function shortened(value: JsonValue): JsonValue {
  if (typeof value === 'string') return cut(value);
  if (Array.isArray(value)) return value.map(shortened);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shortened(item)]));
}

function cut(text: string): string {
  const more = text.length - LONGEST_TEXT;
  if (more <= 0) return text;
  const half = LONGEST_TEXT / 2;
  const [head, tail] = [text.slice(0, half).toWellFormed(), text.slice(-half).toWellFormed()];
  return `${head}\n[${more} characters left out]\n${tail}`;
}

/** The first and the last parts, as many as fit. */
function withinLimit<Part extends { line: string }>(parts: readonly Part[]): Part[] {
  const head: Part[] = [];
  const tail: Part[] = [];
  let left = LONGEST_MATERIAL;
  for (let [from, to] = [0, parts.length - 1]; from <= to; ) {
    const isHead = head.length <= tail.length;
    const part = parts[isHead ? from++ : to--];
    if (!part || part.line.length > left) break;
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
