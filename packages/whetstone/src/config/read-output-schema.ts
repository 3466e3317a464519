import { messageOf } from '@whetstone/errors';
import type { JsonObject } from '@whetstone/events';
import { isMapping } from './check-shape.ts';
import { readNamedText } from './existing-path.ts';
import { diagnosticAt, type SourceText, unplaced } from './source-text.ts';
import { diagnose, type Spot } from './spot.ts';
import { parseYaml, type YamlPath } from './yaml-source.ts';

/** Claude Code takes it as an argument, which Linux limits to 128 KiB. */
const SIZE_LIMIT_BYTES = 64 * 1024;

type Report = (path: YamlPath, message: string, hint?: string) => void;

/** A task's JSON Schema: a file, relative to the task file, or the schema itself. */
export async function readOutputSchema(
  raw: string | Record<string, unknown>,
  spot: Spot,
): Promise<JsonObject | undefined> {
  if (typeof raw === 'string') return readSchemaFile(raw, spot);
  return checkSchema(raw, (inner, message, hint) => spot.at(...inner).error(message, { hint }));
}

async function readSchemaFile(value: string, spot: Spot): Promise<JsonObject | undefined> {
  const source = await readNamedText(value, spot);
  if (!source) return undefined;
  const path = spot.shown();
  const parsed = parseJson(source);
  if (parsed.kind === 'broken') {
    const { message, offset } = parsed;
    const finding = { path, message, severity: 'error' } as const;
    const span = offset === undefined ? undefined : { offset, length: 1 };
    spot.add(span ? diagnosticAt(source, span, finding) : unplaced(source.file, finding));
    return undefined;
  }
  // JSON is YAML: its reader knows where each value stands.
  const { yaml } = parseYaml(source);
  return checkSchema(parsed.value, (inner, message, hint) =>
    spot.add({ ...diagnose(yaml, 'error', inner, message, { hint }), path }),
  );
}

type ParsedJson = { kind: 'value'; value: unknown } | { kind: 'broken'; message: string; offset?: number };

function parseJson({ text }: SourceText): ParsedJson {
  try {
    return { kind: 'value', value: JSON.parse(text) };
  } catch (error) {
    const message = messageOf(error);
    const [place, offset] = / (?:in|after) JSON at position (\d+)/.exec(message) ?? [];
    const said = place === undefined ? message : message.slice(0, message.indexOf(place));
    return { kind: 'broken', message: `is not JSON: ${said}`, ...(offset && { offset: Number(offset) }) };
  }
}

async function checkSchema(value: unknown, report: Report): Promise<JsonObject | undefined> {
  if (!isMapping(value)) {
    report([], 'is not a JSON Schema: expected an object');
    return undefined;
  }
  const schema = value as JsonObject;
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  if (bytes > SIZE_LIMIT_BYTES) {
    report([], `is larger than ${SIZE_LIMIT_BYTES / 1024} KiB: ${bytes} bytes`, 'remove descriptions');
    return undefined;
  }
  // Loaded on use: most configurations have none.
  const { compileSchema } = await import('./json-schema.ts');
  const compiled = compileSchema(schema);
  if (compiled.kind === 'invalid') {
    const { pointer, message } = compiled.problem;
    report(pathOf(pointer), `is not a JSON Schema: ${pointer === '' ? '' : `${pointer} `}${message}`);
    return undefined;
  }
  if (schema.type !== 'object') {
    const hint = 'write type: object at the root, and put other values into a property';
    report(['type'], 'the answer must be an object', hint);
    return undefined;
  }
  return schema;
}

/** The keys that a JSON pointer (RFC 6901) names. */
const pathOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
