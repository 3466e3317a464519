import { didYouMean, suggestion } from '@whetstone/errors/did-you-mean';
import { z } from 'zod';
import type { FindingOptions, Spot } from './spot.ts';

/** Checks a value against a schema. If it does not fit, reports every problem and returns `undefined`. */
export function checkShape<Shape>(schema: z.ZodType<Shape>, value: unknown, spot: Spot): Shape | undefined {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) reportIssue(issue, value, spot);
  return undefined;
}

/** The good keys of a mapping; `undefined` for another value. Reports every bad key, and warns about unknown ones. */
export function checkMapping<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  value: unknown,
  spot: Spot,
): Partial<z.output<z.ZodObject<Shape>>> | undefined {
  warnUnknownKeys(schema, value, spot);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) reportIssue(issue, value, spot);
  if (!isMapping(value)) return undefined;
  const bad = new Set(result.error.issues.map((issue) => issue.path[0]));
  const good = Object.fromEntries(Object.entries(value).filter(([key]) => !bad.has(key)));
  return schema.partial().safeParse(good).data as Partial<z.output<z.ZodObject<Shape>>> | undefined;
}

function reportIssue(issue: z.core.$ZodIssue, root: unknown, rootSpot: Spot): void {
  const spot = rootSpot.at(...issue.path.filter((segment) => typeof segment !== 'symbol'));
  const value = valueAt(root, issue.path);
  if (issue.code === 'invalid_union') {
    reportUnion(issue, value, spot);
    return;
  }
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys)
      spot.at(key).error('unknown key', { hint: 'correct or remove it', mark: 'key' });
    return;
  }
  const { message, ...options } = explain(issue, value, spot.written);
  spot.error(message, options);
}

/** For a value that may have several types: reports what is wrong for the type that it has. */
function reportUnion(issue: z.core.$ZodIssueInvalidUnion, value: unknown, spot: Spot): void {
  const fitting = issue.errors.find((branch) =>
    branch.every((nested) => nested.code !== 'invalid_type' || nested.path.length > 0),
  );
  if (fitting) {
    for (const nested of fitting) reportIssue(nested, value, spot);
    return;
  }
  const wanted = issue.errors.flatMap((branch) => branch.flatMap((nested) => expectation(nested) ?? []));
  const { message, ...options } = wrongType([...new Set(wanted)].join(' or '), value, spot.written);
  spot.error(message, options);
}

type Explanation = FindingOptions & { message: string };

function explain(issue: z.core.$ZodIssue, value: unknown, written: () => string | undefined): Explanation {
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(expectation(issue) ?? issue.expected, value, written);
    case 'invalid_value': {
      if (value === undefined) return { message: 'is required', hint: `one of: ${issue.values.join(', ')}` };
      const known = issue.values.map(String);
      return {
        message: `unknown value ${show(value)}`,
        hint: suggestion(typeof value === 'string' ? value : '', known, 'possible'),
      };
    }
    case 'too_small':
      if (issue.origin === 'array') {
        const isOurs = !issue.message.startsWith('Too small');
        return { message: isOurs ? issue.message : 'must not be an empty list' };
      }
      return { message: issue.origin === 'string' ? issue.message : `must be at least ${issue.minimum}` };
    case 'too_big':
      return { message: `must be at most ${issue.maximum}` };
    case 'custom':
      return {
        message: issue.message,
        ...(typeof issue.params?.hint === 'string' && { hint: issue.params.hint }),
      };
    case 'invalid_key':
      return { message: issue.issues[0]?.message ?? issue.message, mark: 'key' };
    default:
      return { message: issue.message };
  }
}

function expectation(issue: z.core.$ZodIssue): string | undefined {
  if (issue.code !== 'invalid_type') return undefined;
  const names: Record<string, string> = {
    string: 'text',
    int: 'a whole number',
    number: 'a number',
    boolean: 'true or false',
    array: 'a list',
    object: 'a mapping',
    record: 'a mapping',
  };
  return names[issue.expected] ?? issue.expected;
}

function wrongType(wanted: string, value: unknown, written: () => string | undefined): Explanation {
  if (value === undefined) return { message: 'is required' };
  if (value === null) return { message: `expected ${wanted}, but the value is missing` };
  const scalar = typeof value === 'number' || typeof value === 'boolean';
  const asWritten = scalar ? (written() ?? String(value)) : show(value);
  const kind = typeof value === 'string' ? 'the text ' : scalar ? `the ${typeof value} ` : '';
  return {
    message: `expected ${wanted}, got ${kind}${asWritten}`,
    ...(scalar && wanted.includes('text') && { hint: `put it in quotes: "${asWritten}"` }),
  };
}

function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a mapping';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 59).toWellFormed()}…` : text;
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const segment of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, segment);
  }
  return value;
}

/** Warns about unknown keys at every level: they have no effect. In a strict mapping they are errors already. */
export function warnUnknownKeys(schema: z.ZodType, value: unknown, spot: Spot): void {
  const shape = unwrap(schema);
  if (shape instanceof z.ZodArray && Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (shape.element instanceof z.ZodType) warnUnknownKeys(shape.element, item, spot.at(index));
    }
  }
  if (!(shape instanceof z.ZodObject) || shape.def.catchall instanceof z.ZodNever || !isMapping(value))
    return;
  for (const [key, child] of Object.entries(value)) {
    const known: unknown = Object.hasOwn(shape.shape, key) ? shape.shape[key] : undefined;
    if (known instanceof z.ZodType) warnUnknownKeys(known, child, spot.at(key));
    else {
      const hint = suggestion(key, Object.keys(shape.shape));
      spot.at(key).warning('unknown key, which has no effect', { hint, mark: 'key' });
    }
  }
}

/** Tasks may carry keys for other tools, so this warns only about keys that look like a misspelling of a known key. */
export function warnCloseKeys(known: readonly string[], value: object, spot: Spot): void {
  for (const key of Object.keys(value)) {
    const meant = known.includes(key) ? undefined : didYouMean(key, known);
    if (meant === undefined) continue;
    const hint = `did you mean ${meant}?`;
    spot.at(key).warning('unknown key, kept but without effect', { hint, mark: 'key' });
  }
}

function unwrap(schema: z.ZodType): z.ZodType {
  let inner: unknown = schema;
  for (;;) {
    if (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable) inner = inner.unwrap();
    else if (inner instanceof z.ZodPipe) inner = inner.in;
    else break;
  }
  return inner instanceof z.ZodType ? inner : schema;
}

/** Whether a mapping has a value at a key. In YAML a key without a value counts as absent. */
export function isGiven(mapping: unknown, key: string): boolean {
  return isMapping(mapping) && mapping[key] !== null && mapping[key] !== undefined;
}

export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
