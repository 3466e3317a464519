import { isDeepStrictEqual } from 'node:util';
import { requireArgument } from './arguments.ts';
import { guarded, type Matcher, matchIf } from './matcher.ts';
import { show } from './show.ts';
import type { StandardSchema } from './standard-schema.ts';
import { type MaybeLater, whenKnown } from './when-known.ts';

/** Deeply equal, as `assert.deepStrictEqual`. */
export function equals<Value>(expected: Value): Matcher<Value> {
  return {
    label: `equals(${show(expected)})`,
    match: (value) => matchIf(isDeepStrictEqual(value, expected), `the value is ${show(value)}`),
  };
}

export function isDefined(label?: string): Matcher<unknown> {
  return named('isDefined', label, (value) => value !== undefined && value !== null);
}

export function isTrue(label?: string): Matcher<unknown> {
  return named('isTrue', label, (value) => value === true);
}

export function isFalse(label?: string): Matcher<unknown> {
  return named('isFalse', label, (value) => value === false);
}

function named(name: string, label: string | undefined, test: (value: unknown) => boolean): Matcher<unknown> {
  const isLabel = label === undefined || typeof label === 'string';
  requireArgument(
    isLabel,
    `${name}()`,
    'nothing, or a label: the value is the first argument of check()',
    label,
  );
  return {
    label: `${name}(${label === undefined ? '' : show(label)})`,
    match: (value) => matchIf(test(value), `the value is ${show(value)}`),
  };
}

/** Your own check. If it throws, the assertion is `unavailable`. */
export function satisfies<Value>(
  predicate: (value: Value) => MaybeLater<boolean>,
  label = predicate?.name,
): Matcher<Value> {
  requireArgument(typeof predicate === 'function', 'satisfies()', 'a function', predicate);
  return {
    label: `satisfies(${show(label)})`,
    match: (value) =>
      guarded(() =>
        whenKnown(predicate(value), (isMatch) =>
          matchIf(
            isMatch === true,
            `the check ${label === '' ? '' : `${show(label)} `}gave ${show(isMatch)}`,
          ),
        ),
      ),
  };
}

/** A schema of any library with Standard Schema: zod, valibot, arktype. */
export function matches(schema: StandardSchema): Matcher<unknown> {
  const isSchema = typeof Object(schema)['~standard']?.validate === 'function';
  requireArgument(isSchema, 'matches()', 'a schema with Standard Schema, such as one of zod', schema);
  return {
    label: 'matches(schema)',
    match: (value) =>
      guarded(() =>
        whenKnown(schema['~standard'].validate(value), ({ issues = [] }) =>
          matchIf(issues.length === 0, issues.map(describeIssue).join('; ') || 'the value fits the schema'),
        ),
      ),
  };
}

type Issue = NonNullable<Awaited<ReturnType<StandardSchema['~standard']['validate']>>['issues']>[number];

function describeIssue({ message, path = [] }: Issue): string {
  const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
  return keys.length === 0 ? message : `${keys.join('.')}: ${message}`;
}
