import type { DeclaredContext, DeclaredPlugin } from '@whetstone/agents';
import type { LaneRequest } from '@whetstone/gateway';
import { evened, serverOfTool, tellingLine } from './declared-text.ts';

/** The declared things that were in a model request, each with the id of the first such call. */
export type RequestSight = {
  requests: number;
  instructions?: { extent: 'whole' | 'part'; call: string };
  /** Skills of a plugin are `PLUGIN:SKILL`. */
  skills: Map<string, string>;
  mcpServers: Map<string, string>;
  /** Plugins of which a request contained any part. */
  plugins: Map<string, string>;
};

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
    (declared.instructions === undefined || sight.instructions?.extent === 'whole') &&
    sight.skills.size === skills.length &&
    sight.mcpServers.size === mcpServers.length &&
    sight.plugins.size === plugins.length;
  return {
    sight,
    onRequest({ id, body }) {
      if (isSettled()) return;
      const strings = stringsOf(body);
      if (strings.length === 0) return;
      sight.requests += 1;
      const text = evened(strings.join('\n'));
      const extent = extentOf(declared.instructions, text);
      if (extent && (!sight.instructions || extent === 'whole')) sight.instructions = { extent, call: id };
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

/** All texts of a JSON body, without the names of fields. A body that is not JSON has none. */
function stringsOf(body: Uint8Array): string[] {
  const strings: string[] = [];
  try {
    JSON.parse(Buffer.from(body).toString(), (_, value: unknown) => {
      if (typeof value === 'string') strings.push(value);
      return value;
    });
    return strings;
  } catch {
    return [];
  }
}

function extentOf(instructions: string | undefined, text: string): 'whole' | 'part' | undefined {
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
