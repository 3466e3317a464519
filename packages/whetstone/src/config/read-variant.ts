import { readFile } from 'node:fs/promises';
import { messageOf } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { checkMapping, isGiven } from './check-shape.ts';
import type { InstructionsConfig, OverlayOperation, VariantConfig } from './config.ts';
import { existingPath } from './existing-path.ts';
import { checkEntryName } from './read-agent.ts';
import { readMcpServers } from './read-mcp-servers.ts';
import { readPlugin } from './read-plugin.ts';
import { readSkill } from './read-skill.ts';
import { overlaySchema, variantSchema } from './schema.ts';
import { sourceProblems } from './source-tree.ts';
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
  const overlays: OverlayOperation[] = [];
  for (const [index, entry] of (fields.overlays ?? []).entries()) {
    const operation = await readOverlay(entry, spot.at('overlays', index));
    if (operation) overlays.push(operation);
  }
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

/** The path of a file, or the text itself if it has a line break. */
async function readInstructions(
  value: string | null | undefined,
  spot: Spot,
): Promise<InstructionsConfig | undefined> {
  if (value == null) return undefined;
  if (value.includes('\n')) return { text: value };
  const file = existingPath(value, spot, 'file');
  if (file === undefined) return undefined;
  const text = await readFile(file, 'utf8').catch(() => '');
  if (text.trim() === '') spot.error(`is empty, or cannot be read: ${file}`);
  return { file };
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
