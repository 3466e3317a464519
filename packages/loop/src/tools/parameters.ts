import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';

/** A parameter of a tool: its JSON Schema, and as a type the value that an executor gets for it. */
export type Parameter<Value = unknown> = { schema: JsonObject; isOptional?: boolean; value?: Value };
type Optional<Value = unknown> = Parameter<Value> & { isOptional: true };
export type Parameters = Readonly<Record<string, Parameter>>;

type OptionalNames<P> = { [N in keyof P]: P[N] extends Optional ? N : never }[keyof P];
type ValueOf<P> = P extends Parameter<infer Value> ? Value : never;

/** The arguments of a call of a tool that has the parameters `P`. */
export type Arguments<P> = { [N in Exclude<keyof P, OptionalNames<P>>]: ValueOf<P[N]> } & {
  [N in OptionalNames<P>]?: ValueOf<P[N]>;
};

/** Makes parameters of one JSON type. `keywords` are further keywords of JSON Schema. */
const ofType =
  <Value>(type: string) =>
  (description?: string, keywords: JsonObject = {}): Parameter<Value> => ({
    schema: { type, ...keywords, ...present({ description }) },
  });

export const text = ofType<string>('string');
export const integer = ofType<number>('integer');
export const number = ofType<number>('number');
export const flag = ofType<boolean>('boolean');
/** An object with whatever keys. */
export const record = ofType<JsonObject>('object');

/** As most tools describe the path of a file. */
export const FILE_PATH = text('Absolute, or relative to the working directory');
/** As most tools describe the directory that a search starts from. */
export const START_DIRECTORY = text('Directory to start from (default: the working directory)');

export function oneOf<const Value extends string>(
  values: readonly Value[],
  description?: string,
): Parameter<Value> {
  return { schema: { type: 'string', enum: [...values], ...present({ description }) } };
}

export function listOf<Item>(
  item: Parameter<Item>,
  description?: string,
  keywords: JsonObject = {},
): Parameter<Item[]> {
  return { schema: { type: 'array', items: item.schema, ...keywords, ...present({ description }) } };
}

export function objectOf<P extends Parameters>(
  properties: P,
  keywords: JsonObject = {},
): Parameter<Arguments<P>> {
  const required = Object.keys(properties).filter((name) => !properties[name]?.isOptional);
  const schemas = Object.entries(properties).map(([name, { schema }]) => [name, schema]);
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(schemas),
      ...(required.length > 0 && { required }),
      ...keywords,
    },
  };
}

/** A parameter that a call may leave out. */
export function optional<Value>(parameter: Parameter<Value>): Optional<Value> {
  return { ...parameter, isOptional: true };
}
