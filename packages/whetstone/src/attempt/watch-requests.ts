import type { DeclaredContext, DeclaredPlugin } from '@whetstone/agents';
import { isJsonObject, type JsonObject, type JsonValue } from '@whetstone/events';
import type { LaneRequest } from '@whetstone/gateway';
import { evened, serverOfTool, tellingLine } from './declared-text.ts';

/** The declared things that were in a model request, each with the id of the first such call. */
export type RequestSight = {
  requests: number;
  /** The first request that offers tools; else the first one, which then may be about a title or a route. */
  first?: FirstRequest;
  instructions?: { extent: 'whole' | 'part'; call: string };
  /** Skills of a plugin are `PLUGIN:SKILL`. */
  skills: Map<string, string>;
  mcpServers: Map<string, string>;
  /** Plugins of which a request contained any part. */
  plugins: Map<string, string>;
};

export type FirstRequest = { call: string; body: JsonObject /** Its texts, evened. */; text: string };

export type RequestWatch = {
  sight: RequestSight;
  onRequest(request: Pick<LaneRequest, 'id' | 'body'>): void;
};

/** Examines the model requests of an attempt for what its variant declares, until everything has been seen. */
export function watchRequests(declared: DeclaredContext): RequestWatch {
  const sight: RequestSight = { requests: 0, skills: new Map(), mcpServers: new Map(), plugins: new Map() };
  const { mcpServers, plugins } = declared;
  const skills = [
    ...declared.skills.map((skill) => ({ ...skill, key: skill.name })),
    ...plugins.flatMap((plugin) =>
      plugin.skills.map((skill) => ({ ...skill, key: pluginSkill(plugin, skill) })),
    ),
  ];
  const servers = mcpServers.map(({ name }) => name);
  const isSettled = () =>
    sight.first !== undefined &&
    offersTools(sight.first.body) &&
    (declared.instructions === undefined || sight.instructions?.extent === 'whole') &&
    sight.skills.size === skills.length &&
    sight.mcpServers.size === mcpServers.length &&
    sight.plugins.size === plugins.length;
  return {
    sight,
    onRequest({ id, body }) {
      if (isSettled()) return;
      const { strings, value } = read(body);
      if (strings.length === 0) return;
      sight.requests += 1;
      const text = evened(strings.join('\n'));
      const isFirst = !sight.first || (!offersTools(sight.first.body) && offersTools(value));
      if (isFirst) sight.first = { call: id, body: value, text };
      const extent = extentOf(declared.instructions, text);
      if (extent && sight.instructions?.extent !== 'whole') sight.instructions = { extent, call: id };
      for (const { key, name, description } of skills) {
        if (!sight.skills.has(key) && listsSkill(text, name, description)) sight.skills.set(key, id);
      }
      for (const { name } of mcpServers) {
        if (!sight.mcpServers.has(name) && offersServer(strings, name, servers))
          sight.mcpServers.set(name, id);
      }
      for (const plugin of plugins) {
        if (sight.plugins.has(plugin.name)) continue;
        const isMentioned =
          plugin.skills.some((skill) => sight.skills.has(pluginSkill(plugin, skill))) ||
          plugin.context.some((context) => text.includes(tellingLine(context))) ||
          serversOf(plugin, servers).some((name, _, names) => offersServer(strings, name, names));
        if (isMentioned) sight.plugins.set(plugin.name, id);
      }
    },
  };
}

export const pluginSkill = (plugin: { name: string }, skill: { name: string }): string =>
  `${plugin.name}:${skill.name}`;

/** The names that agents may offer its servers under: Claude Code writes the name of the plugin before them. */
const serversOf = ({ name, mcpServers }: DeclaredPlugin, declared: readonly string[]): string[] =>
  mcpServers
    .filter((server) => !declared.includes(server))
    .flatMap((server) => [server, `plugin_${name}_${server}`]);

/** A JSON body, and all its texts without the names of fields. A body that is not a JSON object has none. */
function read(body: Uint8Array): { value: JsonObject; strings: string[] } {
  const strings: string[] = [];
  try {
    const value: JsonValue = JSON.parse(Buffer.from(body).toString(), (_, part: unknown) => {
      if (typeof part === 'string') strings.push(part);
      return part;
    });
    if (isJsonObject(value)) return { value, strings };
  } catch {
    // Only model requests are evidence.
  }
  return { value: {}, strings: [] };
}

/** In every wire protocol they are a list of this name. */
const offersTools = ({ tools }: JsonObject): boolean => Array.isArray(tools) && tools.length > 0;

/** How much of some instructions an evened text has. */
export function extentOf(instructions: string | undefined, text: string): 'whole' | 'part' | undefined {
  const whole = evened(instructions ?? '');
  if (instructions === undefined || whole === '') return undefined;
  if (text.includes(whole)) return 'whole';
  return text.includes(tellingLine(instructions)) ? 'part' : undefined;
}

/** How many characters of a description must be there. Some agents cut long descriptions. */
const DESCRIPTION_CHARACTERS = 60;

/** By its name and the longest part of its description without characters that XML escapes: some agents use XML. */
function listsSkill(text: string, name: string, description: string): boolean {
  const start = evened(description).slice(0, DESCRIPTION_CHARACTERS);
  const plain = start
    .split(/[&<>"']/)
    .reduce((longest, part) => (part.length > longest.length ? part : longest), '');
  return text.includes(name) && text.includes(plain);
}

/** Longer texts are not names of tools. */
const NAME_CHARACTERS = 128;

/** By a tool that is offered or by a text that names a tool: some agents only list the tools that can be requested. */
function offersServer(strings: readonly string[], server: string, servers: readonly string[]): boolean {
  const named = new RegExp(`(?<![A-Za-z0-9])mcp__?${server.replaceAll(/[-_]/g, '[-_]')}(?![A-Za-z0-9])`);
  return strings.some(
    (text) => named.test(text) || (text.length <= NAME_CHARACTERS && serverOfTool(text, servers) === server),
  );
}
