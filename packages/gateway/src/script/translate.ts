import { posix } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { AgentFamily } from '../agent-family.ts';
import { objectAt, objectsIn, stringAt } from '../wire/json-reading.ts';
import type { OfferedTool } from '../wire/neutral.ts';
import { workingDirectory } from '../working-directory.ts';
import type { NativeCall, NeutralCall, ScriptCall } from './script.ts';
import { shellCommand } from './shell-command.ts';

/** What the translation of a call depends on. */
export type TranslationContext = {
  tools: readonly OfferedTool[];
  family: AgentFamily;
  /** The request's text, where an agent reports its working directory. */
  text: string;
};

/** A call of an offered tool, still without an id. */
export type TranslatedCall = { name: string; namespace?: string } & (
  | { kind: 'function'; input: JsonObject }
  | { kind: 'custom'; input: string }
);

/**
 * Translates a neutral call into a call of a tool that the request offers: the tool made for it, or else apply_patch,
 * the shell, or the JavaScript of Codex's code mode. A native call needs no translation. `undefined` when no offered
 * tool can do it.
 */
export function translateCall(call: ScriptCall, context: TranslationContext): TranslatedCall | undefined {
  if (call.tool === 'native') return callNativeTool(call, context.tools);
  return (
    callNamedTool(call, context) ??
    callApplyPatch(call, context) ??
    callNamedTool({ tool: 'shell', command: shellCommand(call) }, context) ??
    callCodeMode(call, context)
  );
}

/** The call as the script wrote it. `undefined` unless the request offers a tool of that name that takes such an input. */
function callNativeTool(
  { name, input }: NativeCall,
  tools: readonly OfferedTool[],
): TranslatedCall | undefined {
  const kind = typeof input === 'string' ? 'custom' : 'function';
  const tool = tools.find((offered) => offered.name === name && offered.kind === kind);
  if (!tool) return undefined;
  return typeof input === 'string'
    ? { ...calledTool(tool), kind: 'custom', input }
    : { ...calledTool(tool), kind: 'function', input };
}

/** The names of the agents' tools for each neutral call. */
const toolNames: Record<NeutralCall['tool'], readonly string[]> = {
  shell: ['shell', 'exec_command', 'shell_command', 'Bash', 'bash', 'run_shell_command'],
  read: ['read_file', 'Read', 'read', 'view'],
  write: ['write_file', 'Write', 'write', 'create'],
  edit: ['edit_file', 'Edit', 'edit', 'replace'],
};

function callNamedTool(call: NeutralCall, context: TranslationContext): TranslatedCall | undefined {
  for (const name of toolNames[call.tool]) {
    const tool = context.tools.find((offered) => offered.name === name && offered.kind === 'function');
    const input = tool && inputFor(call, tool.parameters ?? {}, context);
    if (input) return { ...calledTool(tool), kind: 'function', input };
  }
  return undefined;
}

/** The input of a tool in the terms of its schema; `undefined` when the schema requires something else. */
function inputFor(
  call: NeutralCall,
  schema: JsonObject,
  context: TranslationContext,
): JsonObject | undefined {
  const input = callFields(call, schema, context);
  if (!input) return undefined;
  const required = schema.required;
  for (const name of Array.isArray(required) ? required : []) {
    if (typeof name !== 'string' || name in input) continue;
    if (purposeNames.includes(name)) input[name] = purpose(call);
    // The schema of a strict tool requires every field, and lets one be null that a call can do without.
    else if (mayBeNull(objectAt(objectAt(schema, 'properties'), name))) input[name] = null;
    else return undefined;
  }
  return input;
}

const mayBeNull = ({ type, anyOf }: JsonObject): boolean =>
  [type, ...(Array.isArray(type) ? type : [])].includes('null') ||
  objectsIn(anyOf).some((choice) => choice.type === 'null');

/** Required inputs that only explain to a person what a call is for. */
const purposeNames = ['description', 'instruction', 'explanation'];

const purpose = (call: NeutralCall): string =>
  call.tool === 'shell' ? 'Run a command of the script' : `Do the script's ${call.tool} of ${call.path}`;

function callFields(
  call: NeutralCall,
  schema: JsonObject,
  context: TranslationContext,
): JsonObject | undefined {
  const { tool: _, ...fields } = call;
  // pi takes a list of replacements; its older versions and all other agents take one.
  const edits = objectAt(objectAt(schema, 'properties'), 'edits');
  if (call.tool !== 'edit' || stringAt(edits, 'type') !== 'array') return named(schema, fields, context);
  const target = named(schema, { path: call.path }, context);
  const edit = named(objectAt(edits, 'items'), { find: call.find, replace: call.replace }, context);
  return target && edit && { ...target, edits: [edit] };
}

type Field = 'command' | 'path' | 'content' | 'find' | 'replace' | 'patch';

/** The names of a field in the agents' tools. A tool without a schema gets the first. */
const fieldNames: readonly (readonly [Field, readonly string[]])[] = [
  ['command', ['command', 'cmd']],
  ['path', ['file_path', 'path', 'filePath', 'absolute_path']],
  ['content', ['content', 'file_text']],
  ['find', ['old_string', 'oldText', 'oldString', 'old_str']],
  ['replace', ['new_string', 'newText', 'newString', 'new_str']],
  ['patch', ['patch', 'input', 'patchText']],
];

/** The values under the schema's names; `undefined` when the schema lacks a name for one of them. */
function named(
  schema: JsonObject,
  values: Partial<Record<Field, string>>,
  context: TranslationContext,
): JsonObject | undefined {
  const properties = schema.properties;
  const input: JsonObject = {};
  for (const [field, names] of fieldNames) {
    const value = values[field];
    if (value === undefined) continue;
    const name = isJsonObject(properties) ? names.find((candidate) => candidate in properties) : names[0];
    if (name === undefined) return undefined;
    const property = isJsonObject(properties) ? objectAt(properties, name) : {};
    input[name] = fieldValue(field, value, property, context);
  }
  return input;
}

function fieldValue(
  field: Field,
  value: string,
  property: JsonObject,
  context: TranslationContext,
): JsonValue {
  if (field === 'command' && stringAt(property, 'type') === 'array') return ['bash', '-lc', value];
  const wantsAbsolutePath =
    context.family === 'claude-code' || /\babsolute\b/i.test(stringAt(property, 'description'));
  return field === 'path' && wantsAbsolutePath ? absolutePath(value, context.text) : value;
}

/** Resolves against the working directory that the agent reported to the model; without one, a path stays relative. */
function absolutePath(path: string, text: string): string {
  const directory = workingDirectory(text);
  return directory === undefined ? path : posix.resolve(directory, path);
}

function callApplyPatch(call: NeutralCall, context: TranslationContext): TranslatedCall | undefined {
  const tool = context.tools.find((offered) => offered.name === 'apply_patch');
  const patch = patchFor(call);
  if (!tool || patch === undefined) return undefined;
  if (tool.kind === 'custom') return { ...calledTool(tool), kind: 'custom', input: patch };
  const input = tool.kind === 'function' ? named(tool.parameters ?? {}, { patch }, context) : undefined;
  return input && { ...calledTool(tool), kind: 'function', input };
}

/** Codex's newer models have one freeform tool, `exec`. It runs JavaScript, where the other tools are functions. */
function callCodeMode(call: NeutralCall, context: TranslationContext): TranslatedCall | undefined {
  const tool = context.tools.find((offered) => offered.name === 'exec' && offered.kind === 'custom');
  if (!tool) return undefined;
  const patch = (tool.description ?? '').includes('apply_patch') ? patchFor(call) : undefined;
  const inner =
    patch === undefined
      ? `tools.exec_command(${JSON.stringify({ cmd: shellCommand(call) })})`
      : `tools.apply_patch(${JSON.stringify(patch)})`;
  const input = `const result = await ${inner};\nif (typeof text === 'function') text(result);\n`;
  return { ...calledTool(tool), kind: 'custom', input };
}

const calledTool = (tool: OfferedTool): { name: string; namespace?: string } => ({
  name: tool.name,
  ...present({ namespace: tool.namespace }),
});

/**
 * A `write` or `edit` in the apply_patch format of Codex, or `undefined` when the format cannot express it exactly: it
 * only knows whole lines, ends every file with a newline and drops carriage returns. An edit is assumed to begin and
 * end at line ends.
 */
function patchFor(call: NeutralCall): string | undefined {
  if (call.tool === 'edit') return editPatch(call);
  if (call.tool !== 'write' || (call.content !== '' && !isWholeLines(call.content))) return undefined;
  return patch(`*** Add File: ${call.path}`, prefixed('+', linesOf(call.content)));
}

function editPatch({ path, find, replace }: Extract<NeutralCall, { tool: 'edit' }>): string | undefined {
  const replacesLines = isWholeLines(find)
    ? isWholeLines(replace) || replace === ''
    : !find.startsWith('\n') && !replace.includes('\r') && !find.includes('\r');
  if (!replacesLines) return undefined;
  const [before, after] = isWholeLines(find)
    ? [linesOf(find), linesOf(replace)]
    : [find.split('\n'), replace.split('\n')];
  return patch(`*** Update File: ${path}`, ['@@', ...prefixed('-', before), ...prefixed('+', after)]);
}

const isWholeLines = (text: string): boolean => text.endsWith('\n') && !text.includes('\r');

/** The lines of a text that is empty or ends with a newline. */
const linesOf = (text: string): string[] => text.split('\n').slice(0, -1);

const prefixed = (prefix: string, lines: string[]): string[] => lines.map((line) => `${prefix}${line}`);

const patch = (header: string, lines: string[]): string =>
  ['*** Begin Patch', header, ...lines, '*** End Patch', ''].join('\n');
