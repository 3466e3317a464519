import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '@whetstone/events';
import type { AgentFamily } from '../agent-family.ts';
import { type CanonicalRules, canonicalRules } from './canonical-rules.ts';
import { type LaneNames, toNames } from './lane-names.ts';

type Canonicalised = {
  method: string;
  /** Below the lane's base URL, without the query. */
  path: string;
  body: JsonObject;
  family: AgentFamily;
  names: LaneNames;
};

/** A request without the parts that change from session to session, and its hash (`key`). */
export function canonicalRequest({ method, path, body, family, names }: Canonicalised) {
  const rules = canonicalRules(family);
  const named = toNames(names);
  const maskText = (text: string): string =>
    rules.mask.reduce((masked, rule) => {
      if (typeof rule === 'function') return rule(masked);
      const [pattern, replacement] = rule;
      return typeof replacement === 'string'
        ? masked.replace(pattern, replacement)
        : masked.replace(pattern, replacement);
    }, named(text));
  const canonical = canonicalValue(body, [], rules, maskText);
  const request = isJsonObject(canonical) ? canonical : {};
  const endpoint = `${method} ${path.replace(/^\/v1(?=\/)/, '')}`;
  const key = createHash('sha256')
    .update(JSON.stringify([endpoint, request]))
    .digest('hex')
    .slice(0, 32);
  return { key, request };
}

/** Fields and sets in alphabetical order, without the dropped ones, with their texts masked. */
function canonicalValue(
  value: JsonValue,
  path: string[],
  rules: Required<CanonicalRules>,
  maskText: (text: string) => string,
): JsonValue {
  if (typeof value === 'string') return maskText(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => canonicalValue(item, [...path, '*'], rules, maskText));
    return rules.sets.includes(path.join('.')) ? sortedAsJson(items) : items;
  }
  if (!isJsonObject(value)) return value;
  const canonical: JsonObject = {};
  for (const name of Object.keys(value).sort()) {
    const field = value[name];
    const fieldPath = [...path, name];
    if (field === undefined || rules.drop.includes(fieldPath.join('.'))) continue;
    canonical[name] = canonicalValue(field, fieldPath, rules, maskText);
  }
  return canonical;
}

const sortedAsJson = (items: readonly JsonValue[]): JsonValue[] =>
  items
    .map((item) => JSON.stringify(item))
    .sort()
    .map((text): JsonValue => JSON.parse(text));
