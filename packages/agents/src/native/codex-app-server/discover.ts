import { messageOf } from '@whetstone/errors';
import type { JsonObject, JsonValue } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectsIn, textIn } from '../../kit/fields.ts';
import type { DialogueTurn } from '../native-agent.ts';
import type { Catalogue } from './options.ts';
import type { ClientRequestMethod } from './protocol-methods.ts';

type Ask = (method: ClientRequestMethod, params: object) => Promise<JsonObject>;

/** Of one catalogue. */
const ENTRIES_LIMIT = 500;

/** What Codex has to offer in this session, by catalogue. Without paths, which differ from machine to machine. */
export async function discover(
  ask: Ask,
  catalogues: readonly Catalogue[],
  { workingDirectory, log }: DialogueTurn,
): Promise<JsonObject> {
  const read: Record<Catalogue, () => Promise<JsonValue>> = {
    models: async () =>
      (await pages(ask, 'model/list', {})).map((model) => pick(model, ['id', 'model', 'isDefault'])),
    apps: async () =>
      (await pages(ask, 'app/list', {})).map((app) => pick(app, ['id', 'name', 'isAccessible'])),
    async skills() {
      const { data } = await ask('skills/list', { cwds: [workingDirectory] });
      const skills = objectsIn(data).flatMap((entry) => objectsIn(entry.skills));
      return skills.slice(0, ENTRIES_LIMIT).map((skill) => pick(skill, ['name', 'scope', 'enabled']));
    },
    async plugins() {
      const { marketplaces } = await ask('plugin/list', { cwds: [workingDirectory] });
      const found: JsonObject[] = [];
      for (const { name: marketplace = null, path, plugins } of objectsIn(marketplaces)) {
        for (const plugin of objectsIn(plugins).slice(0, ENTRIES_LIMIT)) {
          const details =
            plugin.installed === true ? await contentsOf(ask, textIn(path), textIn(plugin.name)) : {};
          found.push({ marketplace, ...pick(plugin, ['name', 'installed', 'enabled']), ...details });
        }
      }
      return found;
    },
  };
  const found: JsonObject = {};
  for (const catalogue of catalogues) {
    try {
      found[catalogue] = await read[catalogue]();
    } catch (error) {
      log(`codex app-server, ${catalogue}: ${messageOf(error)}`);
      found[catalogue] = null;
    }
  }
  return found;
}

/** All entries of a list that comes in pages. */
async function pages(ask: Ask, method: ClientRequestMethod, params: object): Promise<JsonObject[]> {
  const entries: JsonObject[] = [];
  let cursor: string | undefined;
  do {
    const page = await ask(method, { ...params, ...present({ cursor }) });
    entries.push(...objectsIn(page.data));
    cursor = textIn(page.nextCursor);
  } while (cursor !== undefined && entries.length < ENTRIES_LIMIT);
  return entries;
}

/** The names of what an installed plugin brings. */
async function contentsOf(ask: Ask, marketplacePath: string | undefined, pluginName: string | undefined) {
  if (marketplacePath === undefined || pluginName === undefined) return {};
  const { plugin } = await ask('plugin/read', { marketplacePath, pluginName });
  const { skills, apps, mcpServers } = (plugin ?? {}) as JsonObject;
  const names = (list: JsonValue | undefined) =>
    Array.isArray(list)
      ? list.flatMap((one) =>
          typeof one === 'string' ? one : objectsIn([one]).flatMap(({ name }) => textIn(name) ?? []),
        )
      : [];
  return { skills: names(skills), apps: names(apps), mcpServers: names(mcpServers) };
}

const pick = (object: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(keys.flatMap((key) => (object[key] === undefined ? [] : [[key, object[key]]])));
