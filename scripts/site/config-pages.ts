import { isJsonObject, type JsonObject } from '@whetstone/events';
import type { MadePage } from './command-pages.ts';
import { codeCell, table } from './markdown.ts';

/** One page per key at the top of `whetstone.yaml`, from the schema that the package ships for editors. */
export function configPages(schema: JsonObject): MadePage[] {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const keys = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  return keys.map(([key, value]) => {
    const own = isJsonObject(value) ? value : {};
    const inner = rowsBelow(own, key);
    return {
      path: `config/${key}.md`,
      title: key,
      text: [
        `# ${key}`,
        '',
        `${textOf(own)}`,
        '',
        `A key of \`whetstone.yaml\`, ${required.has(key) ? 'which has to be there' : 'which can be left out'}. Values: ${valuesOf(own)}.`,
        ...(inner.length === 0
          ? []
          : [
              '',
              '## Keys',
              '',
              'A name of your own stands for `NAME`, and `[]` for each entry of a list.',
              '',
              ...table(['Key', 'What it is', 'Values'], inner),
            ]),
        '',
        'Made from the schema that checks the file. [The whole configuration](../configuration.md)',
        '',
      ].join('\n'),
    };
  });
}

/** The keys below a schema, at every level. */
function rowsBelow(schema: JsonObject, path: string): string[][] {
  const rows = new Map<string, string[]>();
  const visit = (one: unknown, at: string): void => {
    if (!isJsonObject(one)) return;
    if (isJsonObject(one.properties)) {
      for (const [key, value] of Object.entries(one.properties)) {
        if (!isJsonObject(value)) continue;
        const place = `${at}.${key}`;
        // Two forms of the same thing may have a key in common.
        if (!rows.has(place)) rows.set(place, [codeCell(place), textOf(value), valuesOf(value)]);
        visit(value, place);
      }
    }
    for (const choice of choicesOf(one)) visit(choice, at);
    visit(one.items, `${at}.[]`);
    visit(one.additionalProperties, `${at}.NAME`);
  };
  visit(schema, path);
  return [...rows.values()];
}

const choicesOf = ({ anyOf, oneOf }: JsonObject): JsonObject[] =>
  [anyOf, oneOf].flatMap((choices) => (Array.isArray(choices) ? choices.filter(isJsonObject) : []));

const textOf = ({ description }: JsonObject): string => (typeof description === 'string' ? description : '');

/** What a key may be, in words: `text or a list of texts`. */
function valuesOf(schema: JsonObject): string {
  return [...new Set(wordsOf(schema))].join(' or ') || 'anything';
}

function wordsOf(schema: JsonObject): string[] {
  if (Array.isArray(schema.enum)) return schema.enum.map((one) => codeCell(String(one)));
  if ('const' in schema) return [codeCell(String(schema.const))];
  const choices = choicesOf(schema);
  if (choices.length > 0) return choices.flatMap(wordsOf);
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter((type) => type !== 'null');
  return types.flatMap((type) => {
    switch (type) {
      case 'string':
        return ['text'];
      case 'integer':
        return [`a whole number${rangeOf(schema)}`];
      case 'number':
        return [`a number${rangeOf(schema)}`];
      case 'boolean':
        return ['`true` or `false`'];
      case 'array':
        return ['a list'];
      case 'object':
        return [isJsonObject(schema.properties) ? 'keys' : 'names with values'];
      default:
        return [];
    }
  });
}

function rangeOf({ minimum, maximum }: JsonObject): string {
  const [from, to] = [minimum, maximum].map((one) => (typeof one === 'number' ? one : undefined));
  const isLimit = to !== undefined && to < 2 ** 31 - 1;
  if (from !== undefined && isLimit) return ` from ${from} to ${to}`;
  return from !== undefined && from > -(2 ** 31) ? ` from ${from}` : '';
}
