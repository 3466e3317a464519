import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type McpServerConfig, readFrontMatter, type SkillConfig } from '@whetstone/agents/config';
import { messageOf } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { z } from 'zod';
import { checkMapping, isGiven } from './check-shape.ts';
import type { InstructionsConfig, OverlayOperation, VariantConfig } from './config.ts';
import { referenceProblem } from './environment-reference.ts';
import { existingPath } from './existing-path.ts';
import { checkEntryName, readEnv } from './read-agent.ts';
import { readPlugin } from './read-plugin.ts';
import { mcpServerSchema, overlaySchema, variantSchema } from './schema.ts';
import { copyProblems, sourceProblems } from './source-tree.ts';
import type { Spot } from './spot.ts';

/** One entry of the `variants` map. A name without a value is a variant that changes nothing. */
export async function readVariant(
  name: string,
  raw: unknown,
  spot: Spot,
): Promise<VariantConfig | undefined> {
  checkEntryName(name, spot);
  const fields = checkMapping(variantSchema, raw ?? {}, spot);
  if (!fields) return undefined;
  const overlays = await readOverlays(fields.overlays ?? [], spot.at('overlays'));
  const servers = readMcpServers(fields.mcp_servers ?? {}, spot.at('mcp_servers'));
  const skills = await readNamed(fields.skills ?? [], readSkill, 'skill', spot.at('skills'));
  const plugins = await readNamed(fields.plugins ?? [], readPlugin, 'plugin', spot.at('plugins'));
  return {
    name,
    description: fields.description ?? '',
    overlays,
    ...present({
      instructions: await readInstructions(fields.instructions, spot.at('instructions')),
      skills: skills.length > 0 ? skills : undefined,
      mcpServers: servers.length > 0 ? servers : undefined,
      plugins: plugins.length > 0 ? plugins : undefined,
    }),
  };
}

/** Text only is the path of a file, or the instructions themselves if it has a line break. */
async function readInstructions(
  value: z.infer<typeof variantSchema>['instructions'],
  spot: Spot,
): Promise<InstructionsConfig | undefined> {
  if (value == null) return undefined;
  if (typeof value === 'string') {
    if (value.includes('\n')) return { text: value, mode: 'append' };
    return instructionsIn(value, 'append', spot);
  }
  const mode = value.mode ?? 'append';
  if ((value.text == null) === (value.file == null)) {
    spot.error('instructions need either text or file');
    return undefined;
  }
  return value.file == null
    ? { text: value.text ?? '', mode }
    : instructionsIn(value.file, mode, spot.at('file'));
}

async function instructionsIn(
  path: string,
  mode: InstructionsConfig['mode'],
  spot: Spot,
): Promise<InstructionsConfig | undefined> {
  const file = existingPath(path, spot, 'file');
  if (file === undefined) return undefined;
  const text = await readFile(file, 'utf8').catch(() => '');
  if (text.trim() === '') spot.error(`is empty, or cannot be read: ${file}`);
  return { file, mode };
}

async function readNamed<Entry extends { name: string }>(
  values: readonly string[],
  read: (value: string, spot: Spot) => Promise<Entry | undefined>,
  what: string,
  spot: Spot,
): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const [index, value] of values.entries()) {
    const entry = await read(value, spot.at(index));
    if (!entry) continue;
    if (entries.some(({ name }) => name === entry.name)) {
      spot.at(index).error(`this variant has another ${what} named ${entry.name}`);
    }
    entries.push(entry);
  }
  return entries;
}

export async function readOverlays(raw: readonly unknown[], spot: Spot): Promise<OverlayOperation[]> {
  const overlays: OverlayOperation[] = [];
  for (const [index, entry] of raw.entries()) {
    const operation = await readOverlay(entry, spot.at(index));
    if (operation) overlays.push(operation);
  }
  return overlays;
}

async function readOverlay(raw: unknown, spot: Spot): Promise<OverlayOperation | undefined> {
  const fields = checkMapping(overlaySchema, raw, spot);
  if (!fields) return undefined;
  const given = (key: string) => isGiven(raw, key);
  const copies = given('source') || given('target');
  if (given('remove') && copies) {
    spot.error('an overlay either copies (source, target) or removes (remove), not both', {
      hint: 'split it into two entries; they are applied in order',
    });
    return undefined;
  }
  if (given('remove')) return fields.remove ? { kind: 'remove', paths: fields.remove } : undefined;
  if (!copies) {
    spot.error('an overlay needs source and target, or remove');
    return undefined;
  }
  for (const key of ['source', 'target']) if (!given(key)) spot.at(key).error('is required');
  const source = fields.source == null ? undefined : await readSource(fields.source, spot.at('source'));
  if (source === undefined || fields.target == null) return undefined;
  return { kind: 'copy', source, target: fields.target };
}

/** A file or folder that is laid over a tree: it must exist, and no symlink in it may lead out of it. */
export async function readSource(
  value: string,
  spot: Spot,
  wanted: 'any' | 'folder' = 'any',
): Promise<string | undefined> {
  const source = existingPath(value, spot, wanted);
  if (source === undefined) return undefined;
  try {
    for (const problem of await sourceProblems(source)) spot.error(problem);
  } catch (error) {
    spot.error(`cannot be read: ${messageOf(error)}`);
  }
  return source;
}

/** A folder with a SKILL.md. Agents list a skill by its name and description, so both are required. */
async function readSkill(value: string, spot: Spot): Promise<SkillConfig | undefined> {
  const source = existingPath(value, spot, 'folder');
  if (source === undefined) return undefined;
  const file = join(source, 'SKILL.md');
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) {
    spot.error(`has no SKILL.md: ${source}`, { hint: 'name the folder of one skill' });
    return undefined;
  }
  const problems = await copyProblems(source, 'a skill');
  for (const problem of problems) spot.error(problem);
  const read = readFrontMatter(text);
  for (const issue of read.error?.issues ?? []) {
    spot.error(`its SKILL.md ${issue.message}`, {
      hint: `start ${file} with a front matter: name: and description: between two lines of ---`,
    });
  }
  return read.success && problems.length === 0 ? { ...read.data, source } : undefined;
}

/** `mcp_servers` of a variant, by name: a command that speaks MCP on its standard streams, or a URL. */
function readMcpServers(map: Record<string, unknown>, spot: Spot): McpServerConfig[] {
  return spot.keysOf(map).flatMap((name) => readMcpServer(name, map[name], spot.at(name)) ?? []);
}

function readMcpServer(name: string, raw: unknown, spot: Spot): McpServerConfig | undefined {
  // Agents build tool names from it, joined with `_`, `__` or `-`, and replace or refuse other characters.
  if (!/^[A-Za-z][A-Za-z0-9]*([_-][A-Za-z0-9]+)*$/.test(name)) {
    const message =
      'a server name must start with a letter and consist of letters and digits, joined by single - or _';
    spot.error(message, { mark: 'key' });
  }
  const fields = checkMapping(mcpServerSchema, raw, spot);
  if (!fields) return undefined;
  const given = (key: string) => isGiven(raw, key);
  if (given('command') === given('url')) {
    spot.error('a server needs either command (with args and env) or url (with headers)');
    return undefined;
  }
  const foreign = given('command') ? ['headers'] : ['args', 'env'];
  for (const key of foreign.filter(given)) {
    const message = `cannot be used together with ${given('command') ? 'command' : 'url'}`;
    spot.at(key).error(message, { mark: 'key' });
  }
  if (fields.url != null) {
    return { kind: 'http', name, url: fields.url, headers: readHeaders(fields.headers ?? {}, spot) };
  }
  if (fields.command == null) return undefined;
  return {
    kind: 'command',
    name,
    command: ownFile(fields.command, spot.at('command')),
    args: (fields.args ?? []).map((arg, index) => ownFile(arg, spot.at('args', index))),
    env: readEnv(fields.env, spot),
  };
}

/** A value that starts with `./` or `../` is a file, relative to the config's folder. Other values stay as written. */
function ownFile(value: string, spot: Spot): string | { file: string } {
  if (!/^\.\.?\//.test(value)) return value;
  const file = existingPath(value, spot, 'file');
  return file === undefined ? value : { file };
}

function readHeaders(raw: Record<string, string>, spot: Spot): Record<string, string> {
  for (const [name, value] of Object.entries(raw)) {
    const at = spot.at('headers', name);
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
      at.error('is not a valid header name', { mark: 'key', secret: true });
    }
    const problem = /[\r\n]/.test(value) ? 'contains a line break' : referenceProblem(value);
    if (problem !== undefined) at.error(problem, { secret: true });
  }
  return raw;
}
