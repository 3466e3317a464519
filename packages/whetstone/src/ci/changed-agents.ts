import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '@whetstone/events';
import { parse } from 'yaml';

/** The agents of a configuration with those of an earlier one beside them. */
export type ChangedAgents = {
  /** Names of the agents to compare: the earlier one is under the first name. */
  pairs: { before: string; after: string }[];
  agents: JsonObject;
};

/**
 * The agents whose keys differ between two versions of a configuration, such as another version, model or option.
 * `undefined`: none differs, or one of the texts has no `agents`.
 */
export function changedAgents(before: string, now: JsonObject): ChangedAgents | undefined {
  const [earlier, agents] = [agentsOf(parsed(before)), agentsOf(now)];
  const changed = Object.keys(agents).filter(
    (name) => earlier[name] !== undefined && !isDeepStrictEqual(earlier[name], agents[name]),
  );
  if (changed.length === 0) return undefined;
  const pairs = changed.map((name) => ({ before: freeName(`${name}-before`, agents), after: name }));
  return {
    pairs,
    agents: Object.fromEntries(
      pairs.flatMap(({ before, after }) => [
        [before, earlier[after]],
        [after, agents[after]],
      ]),
    ) as JsonObject,
  };
}

function parsed(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined; // an earlier version that nobody could run
  }
}

const agentsOf = (root: unknown): JsonObject =>
  isJsonObject(root) && isJsonObject(root.agents) ? root.agents : {};

const freeName = (name: string, taken: JsonObject): string =>
  name in taken ? freeName(`${name}-`, taken) : name;
