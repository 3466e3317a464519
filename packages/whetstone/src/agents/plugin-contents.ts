import { isMapping } from '../config/check-shape.ts';
import { manifestPaths } from '../config/plugin-manifests.ts';
import { readFrontMatter } from '../config/read-skill.ts';
import type { SandboxFile } from '../sandbox/sandbox.ts';

/** What of a plugin a model request tells of once an agent has loaded it. */
export type PluginContents = {
  skills: readonly { name: string; description: string /** Its SKILL.md. */; text: string }[];
  /** Names. */
  mcpServers: readonly string[];
  /** Texts that an agent puts into its prompt. */
  context: readonly string[];
};

/** By convention: what a manifest names in another place is not found, and then nothing is said of it. */
export function pluginContents(files: readonly SandboxFile[]): PluginContents {
  const texts = new Map(files.map(({ path, content }) => [path, content]));
  const textOf = (path: string): string => Buffer.from(texts.get(path) ?? '').toString();
  const manifests = [...manifestPaths, '.mcp.json'].map((path) => mappingIn(textOf(path)));
  const contextFiles = manifests.flatMap(({ contextFileName }) => contextFileName ?? []).map(String);
  return {
    skills: files
      .filter(({ path }) => /(^|\/)SKILL\.md$/.test(path))
      .flatMap(({ path }) => skillIn(textOf(path))),
    mcpServers: [
      ...new Set(manifests.flatMap(({ mcpServers }) => Object.keys(isMapping(mcpServers) ? mcpServers : {}))),
    ]
      // Of another name an agent makes a name of its own for its tools.
      .filter((name) => /^[\w-]+$/.test(name)),
    context: ['GEMINI.md', 'QWEN.md', ...contextFiles].map(textOf).filter((text) => text.trim() !== ''),
  };
}

function skillIn(text: string): PluginContents['skills'] {
  const { data } = readFrontMatter(text);
  return data ? [{ ...data, text }] : [];
}

function mappingIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isMapping(value) ? value : {};
  } catch {
    return {};
  }
}
