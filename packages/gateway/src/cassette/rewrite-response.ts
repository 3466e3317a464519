import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@whetstone/events';
import { deltasOf } from '../wire/deltas.ts';
import { eventData, splitEvents, withEventData } from '../wire/event-splitter.ts';
import type { WireProtocol } from '../wire/neutral.ts';
import type { RecordedExchange } from './cassette.ts';

type Chunks = RecordedExchange['response']['chunks'];
type Replace = (text: string) => string;

/** Replaces text, also where a stream cuts it into deltas: the first gets all of it. Other chunks stay as they are. */
export function rewriteResponse(
  chunks: Chunks,
  isStream: boolean,
  wire: WireProtocol,
  replace: Replace,
): Chunks {
  if (isStream) return rewriteEvents(chunks, wire, replace);
  const text = chunks.map(([, chunk]) => chunk).join('');
  const value = parseJson(text) ?? null;
  const rewritten = rewriteTexts(value, replace);
  const at = chunks.at(-1)?.[0] ?? 0;
  return rewritten === value ? chunks : [[at, JSON.stringify(rewritten)]];
}

function rewriteEvents(chunks: Chunks, wire: WireProtocol, replace: Replace): Chunks {
  const events = eventsOf(chunks);
  const data = events.map(([, event]) => parseJson(eventData(event)) ?? null);
  const deltas = Map.groupBy(
    data.flatMap((each) => (isJsonObject(each) ? deltasOf(each, wire) : [])),
    (delta) => delta.text,
  );
  const changed = new Set<JsonObject>();
  for (const pieces of deltas.values()) {
    const whole = pieces.map(({ holder, field }) => String(holder[field])).join('');
    const replaced = replace(whole);
    if (replaced === whole) continue;
    for (const [index, { event, holder, field }] of pieces.entries()) {
      holder[field] = index === 0 ? replaced : '';
      changed.add(event);
    }
  }
  let anyChange = changed.size > 0;
  const rewritten = events.map(([at, event], index): [number, string] => {
    const value = data[index] ?? null;
    const result = rewriteTexts(value, replace);
    if (result === value && !(isJsonObject(value) && changed.has(value))) return [at, event];
    anyChange = true;
    return [at, withEventData(event, JSON.stringify(result))];
  });
  return anyChange ? rewritten : chunks;
}

function eventsOf(chunks: Chunks): Chunks {
  const splitter = splitEvents();
  const events = chunks.flatMap(([at, text]) =>
    splitter.push(text).map((event): [number, string] => [at, event]),
  );
  const rest = splitter.rest();
  return rest === '' ? events : [...events, [chunks.at(-1)?.[0] ?? 0, rest]];
}

/** Returns the same value when it has nothing to replace. */
function rewriteTexts(value: JsonValue, replace: Replace): JsonValue {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => rewriteTexts(item, replace));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isJsonObject(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, rewriteTexts(field, replace)] as const);
  return fields.some(([name, field]) => field !== value[name]) ? Object.fromEntries(fields) : value;
}
