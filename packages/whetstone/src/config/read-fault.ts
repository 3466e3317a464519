import { messageOf } from '@whetstone/errors';
import { suggestion } from '@whetstone/errors/did-you-mean';
import type { FaultKind, FaultRule } from '@whetstone/gateway';
import { z } from 'zod';

const count = z.number().int().positive();
const ms = z.number().nonnegative();
const afterEvents = z.number().int().nonnegative().exactOptional();

const faultSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('latency'), ms }),
  z.strictObject({
    kind: z.literal('status'),
    status: z.number().int().min(400).max(599),
    retryAfterSeconds: z.number().nonnegative().exactOptional(),
  }),
  z.strictObject({ kind: z.literal('refused') }),
  z.strictObject({ kind: z.literal('reset') }),
  z.strictObject({ kind: z.literal('hang') }),
  z.strictObject({ kind: z.literal('hang-mid-stream'), afterEvents }),
  z.strictObject({ kind: z.literal('truncated'), afterEvents }),
  z.strictObject({ kind: z.literal('garbage'), afterEvents }),
  z.strictObject({ kind: z.literal('malformed-tool-json') }),
  z.strictObject({ kind: z.literal('slow-tokens'), ms }),
]);

const occasionSchema = z.union([
  z.strictObject({ first: count }),
  z.strictObject({ every: count }),
  z.strictObject({
    probability: z.number().min(0).max(1),
    seed: z.union([z.string(), z.number()]).exactOptional(),
  }),
]);

const ruleSchema: z.ZodType<FaultRule> = z.strictObject({
  fault: faultSchema,
  when: occasionSchema.exactOptional(),
});

const kinds = faultSchema.options.map((option) => option.shape.kind.value);

/** `message` says what is wrong with a fault, as the end of a sentence. */
export class FaultFormError extends Error {
  override readonly name = 'FaultFormError';
  readonly hint =
    'for example: 429,retry-after=1@first=2 · latency=500 · reset@every=3 · truncated=3@p=0.2 · {"fault":{"kind":"hang"}}';
}

/** The field that a kind's value in the short form fills. */
const valueFields: Partial<Record<FaultKind, string>> = {
  latency: 'ms',
  status: 'status',
  'hang-mid-stream': 'afterEvents',
  truncated: 'afterEvents',
  garbage: 'afterEvents',
  'slow-tokens': 'ms',
};

/** Names of other fields in the short form. */
const fieldNames: Record<string, string> = { 'retry-after': 'retryAfterSeconds', p: 'probability' };

/**
 * A fault as a user writes it: a `FaultRule` as JSON, or in short `KIND[=VALUE][,FIELD=VALUE…][@OCCASION=VALUE…]`, where
 * a bare number is a status: `429,retry-after=1@first=2`, `latency=500`, `truncated=3@p=0.2,seed=7`.
 * @throws FaultFormError
 */
export function readFault(text: string): FaultRule {
  const isJson = text.trimStart().startsWith('{');
  const rule = ruleSchema.safeParse(isJson ? fromJson(text) : fromShort(text));
  if (rule.success) return rule.data;
  const said = ({ path, message }: z.core.$ZodIssue) => `${path.join('.')}: ${message}`;
  throw new FaultFormError(
    isJson ? rule.error.issues.map(said).join('; ') : shortProblem(fromShort(text), rule.error.issues),
  );
}

/** What a field of the short form takes, by the name that it has in a `FaultRule`. */
const takes: Record<string, string> = {
  ms: 'a number of milliseconds from 0',
  status: 'a whole number from 400 to 599',
  afterEvents: 'a whole number of events from 0',
  retryAfterSeconds: 'a number of seconds from 0',
};

/** The first problem, in the words of the short form. */
function shortProblem({ fault }: ShortRule, [issue]: readonly z.core.$ZodIssue[]): string {
  const { kind } = fault;
  const [part, field] = issue?.path ?? [];
  if (part === 'when')
    return 'after @ stands first=N or every=N, with a whole number from 1, or p=SHARE, from 0 to 1, which may have a seed=SEED';
  if (issue?.code === 'unrecognized_keys')
    return `${kind} has no field ${issue.keys.map(shortName).join(', ')}${kind === 'status' ? '; it has retry-after' : ''}`;
  const wrong = String(field);
  const name = wrong === valueFields[kind] ? kind : shortName(wrong);
  const given = fault[wrong];
  return `${name} needs ${takes[wrong]}, as in ${name}=${EXAMPLES[name] ?? 3}${given === undefined ? '' : `; it has ${given}`}`;
}

const EXAMPLES: Record<string, number> = { latency: 500, 'slow-tokens': 20, status: 429, 'retry-after': 1 };

const shortName = (field: string): string =>
  Object.entries(fieldNames).find(([, full]) => full === field)?.[0] ?? field;

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new FaultFormError(messageOf(error));
  }
}

type ShortRule = { fault: { kind: FaultKind; [field: string]: unknown }; when?: Record<string, unknown> };

function fromShort(text: string): ShortRule {
  const [what = '', occasion, ...rest] = text.split('@');
  if (rest.length > 0) throw new FaultFormError('it has more than one @');
  const [head = '', ...fields] = what.split(',');
  const [name = '', value] = /^\d+$/.test(head) ? ['status', head] : split(head);
  const kind = kinds.find((known) => known === name);
  const [colon] = /^[a-z-]+(?=:)/.exec(name) ?? [];
  if (kinds.some((known) => known === colon))
    throw new FaultFormError(
      `the value of ${colon} stands after =, as in ${colon}=${EXAMPLES[colon ?? ''] ?? 3}`,
    );
  if (!kind) throw new FaultFormError(`unknown kind of fault "${name}"; ${suggestion(name, kinds, 'kinds')}`);
  const field = valueFields[kind];
  if (value !== undefined && field === undefined) throw new FaultFormError(`${kind} takes no value`);
  return {
    fault: {
      kind,
      ...(value !== undefined && field !== undefined && { [field]: scalar(value) }),
      ...readFields(fields),
    },
    ...(occasion !== undefined && { when: readFields(occasion.split(',')) }),
  };
}

const readFields = (fields: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    fields.map((field) => {
      const [name, value = ''] = split(field);
      return [fieldNames[name] ?? name, scalar(value)];
    }),
  );

function split(field: string): [string, string | undefined] {
  const at = field.indexOf('=');
  return at < 0 ? [field.trim(), undefined] : [field.slice(0, at).trim(), field.slice(at + 1).trim()];
}

const scalar = (text: string): string | number =>
  text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
