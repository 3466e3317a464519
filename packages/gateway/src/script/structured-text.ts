import { isJsonObject, type JsonObject, type JsonValue } from '@whetstone/events';
import { objectAt, objectsAt } from '../wire/json-reading.ts';

/**
 * The smallest JSON value that a schema allows by its types, enumerations, bounds and required properties. Agents send
 * side requests with a schema (Gemini CLI's choice of a model), and stop when the reply does not match it.
 */
export function structuredText(schema: JsonObject): string {
  return JSON.stringify(smallest(schema, 0));
}

/** Schemas may refer to themselves; deeper levels are left empty. */
const maxDepth = 12;

function smallest(schema: JsonObject, depth: number): JsonValue {
  if (depth > maxDepth) return null;
  if (schema.const !== undefined) return schema.const;
  const [choice] = Array.isArray(schema.enum) ? schema.enum : [];
  if (choice !== undefined) return choice;
  const [alternative] = [...objectsAt(schema, 'anyOf'), ...objectsAt(schema, 'oneOf')];
  if (alternative) return smallest(alternative, depth + 1);
  switch (typeName(schema)) {
    case 'object':
      return smallestObject(schema, depth);
    case 'array': {
      const length = Math.min(numberAt(schema, 'minItems'), 100);
      return Array.from({ length }, () => smallest(objectAt(schema, 'items'), depth + 1));
    }
    case 'string':
      return '-'.repeat(Math.min(Math.max(1, numberAt(schema, 'minLength')), 1000));
    case 'integer':
    case 'number':
      return numberAt(schema, 'minimum');
    case 'boolean':
      return false;
    default:
      return null;
  }
}

function smallestObject(schema: JsonObject, depth: number): JsonObject {
  const properties = objectAt(schema, 'properties');
  const required = Array.isArray(schema.required) ? schema.required : Object.keys(properties);
  return Object.fromEntries(
    required
      .filter((name) => typeof name === 'string')
      .map((name) => [name, smallest(objectAt(properties, name), depth + 1)]),
  );
}

function typeName(schema: JsonObject): string {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (typeof type === 'string') return type.toLowerCase();
  return isJsonObject(schema.properties) ? 'object' : '';
}

/** Gemini writes bounds as strings ("int64" in JSON). */
const numberAt = (schema: JsonObject, name: string): number => {
  const value = Number(schema[name] ?? 0);
  return Number.isFinite(value) ? value : 0;
};
