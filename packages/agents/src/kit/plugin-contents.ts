import { parseJson } from '@whetstone/events';
import type { SandboxFile } from '@whetstone/sandbox';
import { manifestPaths } from '../native/plugin-manifests.ts';
import type { PluginContents } from './declared-context.ts';
import { objectIn } from './fields.ts';
import { readFrontMatter } from './skill-front-matter.ts';

/** Reads a plugin's contents from their usual paths. Files that a manifest puts elsewhere are not found. */
export function pluginContents(files: readonly SandboxFile[]): PluginContents {
  const texts = new Map(files.map(({ path, content }) => [path, content]));
  const textOf = (path: string): string => Buffer.from(texts.get(path) ?? '').toString();
  const manifests = [...manifestPaths, '.mcp.json'].map((path) => objectIn(parseJson(textOf(path))) ?? {});
  const contextFiles = manifests.flatMap(({ contextFileName }) => contextFileName ?? []).map(String);
  return {
    skills: files
      .filter(({ path }) => /(^|\/)SKILL\.md$/.test(path))
      .flatMap(({ path }) => skillIn(textOf(path))),
    mcpServers: [...new Set(manifests.flatMap(({ mcpServers }) => Object.keys(objectIn(mcpServers) ?? {})))]
      // Agents change names with other characters in the names of their tools.
      .filter((name) => /^[\w-]+$/.test(name)),
    context: ['GEMINI.md', 'QWEN.md', ...contextFiles].map(textOf).filter((text) => text.trim() !== ''),
  };
}

function skillIn(text: string): PluginContents['skills'] {
  const { data } = readFrontMatter(text);
  return data ? [{ ...data, text }] : [];
}
