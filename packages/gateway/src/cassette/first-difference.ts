import { isJsonObject, type JsonValue } from '@whetstone/events';

/** Where two JSON values first differ, and both values there; `undefined` when they are equal. */
export function firstDifference(recorded: JsonValue, now: JsonValue): string | undefined {
  return difference(recorded, now, 'request');
}

function difference(
  recorded: JsonValue | undefined,
  now: JsonValue | undefined,
  at: string,
): string | undefined {
  if (recorded === undefined) return `${at}: not recorded, now ${shown(now)}`;
  if (now === undefined) return `${at}: recorded ${shown(recorded)}, now missing`;
  if (typeof recorded === 'string' && typeof now === 'string') return textDifference(recorded, now, at);
  if (Array.isArray(recorded) && Array.isArray(now)) {
    const length = Math.max(recorded.length, now.length);
    const items = Array.from({ length }, (_, index) =>
      difference(recorded[index], now[index], `${at}[${index}]`),
    );
    return items.find((found) => found !== undefined);
  }
  if (isJsonObject(recorded) && isJsonObject(now)) {
    return Object.keys({ ...recorded, ...now })
      .map((name) => difference(recorded[name], now[name], `${at}.${name}`))
      .find((found) => found !== undefined);
  }
  return recorded === now ? undefined : `${at}: recorded ${shown(recorded)}, now ${shown(now)}`;
}

function textDifference(recorded: string, now: string, at: string): string | undefined {
  if (recorded === now) return undefined;
  let start = 0;
  while (start < recorded.length && recorded[start] === now[start]) start += 1;
  const around = (text: string): string =>
    JSON.stringify(text.slice(Math.max(0, start - 20), start + 60).toWellFormed());
  return `${at}, character ${start}: recorded …${around(recorded)}…, now …${around(now)}…`;
}

function shown(value: JsonValue | undefined): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 80 ? text : `${text.slice(0, 80).toWellFormed()}…`;
}
