import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type DrivenAgentKind,
  drivenAgentKinds,
  drivenAgents,
  manifestPaths,
  type PluginConfig,
} from '@whetstone/agents/config';
import { messageOf } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { isMapping } from './check-shape.ts';
import { existingPath } from './existing-path.ts';
import { copyProblems } from './source-tree.ts';
import type { Spot } from './spot.ts';

type Manifest = { path: string; content: Record<string, unknown> };

/** A plugin: a folder with a manifest for at least one agent. All its manifests must give it the same name. */
export async function readPlugin(value: string, spot: Spot): Promise<PluginConfig | undefined> {
  const source = existingPath(value, spot, 'folder');
  if (source === undefined) return undefined;
  const read = await Promise.all(manifestPaths.map((manifest) => readManifest(source, manifest)));
  const broken = read.flatMap((found) => (typeof found === 'string' ? [found] : []));
  const manifests = read.filter((found) => typeof found === 'object');
  const kinds = drivenAgentKinds.filter((kind) => manifestFor(kind, manifests));
  const problems = [...broken, ...(await copyProblems(source, 'a plugin'))];
  const used = new Set(kinds.map((kind) => manifestFor(kind, manifests)));
  const [first, ...others] = manifests.filter((manifest) => used.has(manifest));
  if (!first && broken.length === 0) {
    spot.error(`has no plugin manifest that an agent reads: ${source}`, {
      hint: `looked for: ${manifestPaths.join(', ')}`,
    });
    return undefined;
  }
  const name = first && nameOf(first);
  if (first && !(name && /^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$/.test(name) && name.length <= 64)) {
    problems.push(`its ${first.path} needs a name of at most 64 letters and digits, joined by single - or _`);
  }
  for (const other of others.filter(({ path }) => path !== 'package.json')) {
    if (nameOf(other) === name) continue;
    problems.push(`the names in its ${other.path} and its ${first?.path} differ`);
  }
  for (const problem of problems) spot.error(problem);
  if (!first || name === undefined || problems.length > 0) return undefined;
  const { version, description } = first.content;
  return { name, ...present({ version: textOf(version), description: textOf(description) }), source, kinds };
}

/** The manifest, `undefined` if there is none, or a text that says what is wrong with it. */
async function readManifest(source: string, path: string): Promise<Manifest | string | undefined> {
  const text = await readFile(join(source, path), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const content: unknown = JSON.parse(text);
    return isMapping(content) ? { path, content } : `its ${path} is not a JSON object`;
  } catch (error) {
    return `its ${path} is not JSON: ${messageOf(error)}`;
  }
}

/** The manifest by which an agent recognizes the plugin. */
const manifestFor = (kind: DrivenAgentKind, manifests: readonly Manifest[]): Manifest | undefined =>
  (drivenAgents[kind].facts.plugins?.manifests ?? [])
    .flatMap(({ path, holds }) =>
      manifests.filter((found) => found.path === path && (holds?.isIn(found.content) ?? true)),
    )
    .at(0);

/** The plugin's name. The name of a package loses its scope. */
function nameOf({ path, content }: Manifest): string | undefined {
  const name = textOf(content.name);
  return path === 'package.json' ? name?.replace(/^@[^/]*\//, '') : name;
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
