import { type CliAgentKind, cliAgentKinds } from './kinds.ts';

/** A file of a plugin's folder by which an agent knows it. */
export type PluginManifest = {
  /** `/` separated, below the plugin's folder. */
  path: string;
  /** For a file that other things have, too: what in it is for the agent. Default: the file is enough. */
  holds?: { what: string; isIn: (content: Readonly<Record<string, unknown>>) => boolean };
};

const claudePlugin: PluginManifest = { path: '.claude-plugin/plugin.json' };

/**
 * By which files each agent knows a plugin, the first that is there. Seen with the versions of `tested-versions.json`:
 * Codex and Copilot take plugins that were made for Claude Code.
 */
export const pluginManifests: Readonly<Record<CliAgentKind, readonly PluginManifest[]>> = {
  'codex-cli': [{ path: '.codex-plugin/plugin.json' }, claudePlugin],
  'claude-code': [claudePlugin],
  'gemini-cli': [{ path: 'gemini-extension.json' }],
  'qwen-code': [{ path: 'qwen-extension.json' }],
  'opencode-cli': [
    {
      path: 'package.json',
      holds: {
        what: 'main, or ./server in exports',
        isIn: ({ main, exports }) =>
          typeof main === 'string' ||
          (typeof exports === 'object' && exports !== null && Object.hasOwn(exports, './server')),
      },
    },
  ],
  pi: [
    { path: 'package.json', holds: { what: 'pi', isIn: ({ pi }) => typeof pi === 'object' && pi !== null } },
  ],
  copilot: [
    { path: 'plugin.json' },
    { path: '.plugin/plugin.json' },
    { path: '.github/plugin/plugin.json' },
    claudePlugin,
  ],
};

/** Every manifest of every agent, each path once; `package.json` last, as its name is that of an npm package. */
export const manifestPaths: readonly string[] = [
  ...new Set(cliAgentKinds.flatMap((kind) => pluginManifests[kind].map(({ path }) => path))),
].sort((a, b) => Number(a === 'package.json') - Number(b === 'package.json'));

/** For people: `package.json (with pi)`, several with `or` between. */
export const manifestsOf = (kind: CliAgentKind): string =>
  pluginManifests[kind]
    .map(({ path, holds }) => (holds ? `${path} (with ${holds.what})` : path))
    .join(' or ');
