import { WhetstoneError } from '@whetstone/errors';
import { suggestion } from '@whetstone/errors/did-you-mean';

/** What the value of an option has to be. */
export type Kind = { what: string; fits: (value: unknown) => boolean };

export const isCount = (value: unknown): boolean =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

export const count: Kind = { what: 'a number of 0 or more', fits: isCount };

export const flag: Kind = { what: 'true or false', fits: (value) => typeof value === 'boolean' };
export const text: Kind = { what: 'a text', fits: (value) => typeof value === 'string' };
export const object: Kind = {
  what: 'an object',
  fits: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};
export const listOfTexts: Kind = {
  what: 'a list of texts',
  fits: (value) => Array.isArray(value) && value.every(text.fits),
};
export const callable: Kind = { what: 'a function', fits: (value) => typeof value === 'function' };

export function oneOf(...values: readonly string[]): Kind {
  return {
    what: values.map((value) => `"${value}"`).join(' or '),
    fits: (value) => values.includes(`${value}`),
  };
}

/** An object with methods of these names. */
export function objectWith(what: string, ...methods: readonly string[]): Kind {
  const has = (value: object, name: string) => typeof Reflect.get(value, name) === 'function';
  return {
    what: `${what}, an object with ${methods.map((name) => `${name}()`).join(' and ')}`,
    fits: (value) => object.fits(value) && methods.every((name) => has(Object(value), name)),
  };
}

/**
 * Refuses a field that does not exist, with the one that was probably meant, and a value of another type. An object of a
 * class of the host may have fields of its own.
 */
export function refuseUnknown(
  owner: string,
  given: object,
  known: Readonly<Record<string, Kind>>,
  required: readonly string[] = [],
): void {
  if (!object.fits(given)) throw wrong(`${owner} is ${shown(given)}; it must be an object.`);
  const names = isPlain(given) ? Object.keys(given) : Object.keys(known);
  for (const name of names) {
    const value: unknown = Reflect.get(given, name);
    const kind = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!kind) throw wrong(`${owner}.${name} does not exist.`, suggestion(name, Object.keys(known)));
    if (value !== undefined && !kind.fits(value))
      throw wrong(`${owner}.${name} is ${shown(value)}; it must be ${kind.what}.`);
  }
  for (const name of required)
    if (Reflect.get(given, name) === undefined)
      throw wrong(`${owner}.${name} is missing; it must be ${known[name]?.what}.`);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function wrong(message: string, hint?: string): WhetstoneError {
  return new WhetstoneError('session-option-invalid', message, { hint });
}

const MOST_SHOWN = 60;

function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  try {
    const json = JSON.stringify(value);
    return json.length > MOST_SHOWN ? 'another object' : json;
  } catch {
    return 'another object';
  }
}
