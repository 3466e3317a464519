import type { JsonObject, JsonValue } from '@whetstone/events';

/**
 * An agent's event stream without the differences between two runs that did the same: durations are left out, ids and
 * times are numbered in order of appearance, and the given names of this run are replaced in paths. Progress events are
 * left out too, because their number and content depend on timing. What OpenCode's server sends at the same time is in one
 * order.
 */
export function comparableEvents(events: readonly JsonObject[], pathNames: readonly string[]): JsonObject[] {
  const ids = new Map<string, string>();
  const idNumber = (id: string): string => {
    const known = ids.get(id) ?? `<id ${ids.size + 1}>`;
    ids.set(id, known);
    return known;
  };
  const comparableText = (text: string): string =>
    pathNames
      .reduce((shorter, name) => shorter.replaceAll(name, '<run>'), text)
      .replaceAll(idPattern, idNumber);

  function comparable(value: JsonValue): JsonValue {
    if (typeof value === 'string') return comparableText(value);
    if (Array.isArray(value)) return value.map(comparable);
    return typeof value === 'object' && value !== null ? comparableObject(value) : value;
  }

  function comparableObject(object: JsonObject): JsonObject {
    const fields = Object.entries(object).filter(([name]) => !isMeasurement(name));
    return Object.fromEntries(fields.map(([name, field]) => [name, comparable(field ?? null)]));
  }

  return inOneOrder(events.filter((event) => !isProgress(event))).map(comparableObject);
}

/** OpenCode's server asks about a call while it still stores the text before it, so that the text comes before or after. */
function inOneOrder(events: readonly JsonObject[]): JsonObject[] {
  const ordered: JsonObject[] = [];
  let questions = 0;
  for (const event of events) {
    const kind = kindOf(event);
    if (kind === 'text') ordered.splice(ordered.length - questions, 0, event);
    else {
      ordered.push(event);
      questions = kind === 'question' ? questions + 1 : 0;
    }
  }
  return ordered;
}

function kindOf({ type, properties }: JsonObject): 'text' | 'question' | undefined {
  if (type === 'permission.asked' || type === 'sdk.ask') return 'question';
  const { part } = (properties ?? {}) as { part?: { type?: string } };
  return type === 'message.part.updated' && part?.type === 'text' ? 'text' : undefined;
}

/** The names of Codex's rollouts, UUIDs, OpenCode's ids, the process id in the name of Claude Code's socket, and times. */
const idPattern =
  /\b\d{4}\/\d\d\/\d\d\/rollout-[\w-]+|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b(?:ses|prt|msg|evt|per|que)_[0-9a-f]{12}[0-9A-Za-z]{14}\b|\bcc-socks\/\d+|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)?/g;

/**
 * Durations, times, process ids, OpenCode's names of a project, a session and a state of the files, and Copilot's telemetry,
 * which has the sizes of prompts that contain paths.
 */
const isMeasurement = (field: string): boolean =>
  /^(?:time|timestamp|.*_ms|.*Ms|(?:created|updated|recency|started|completed)At|processId|toolTelemetry|projectID|slug|snapshot|hash)$/.test(
    field,
  );

/**
 * pi's starts and updates of a message, Copilot's ephemeral events, the pieces of Claude Code, Qwen and an app-server, and
 * what OpenCode's server sends of a session that goes on. Its diff compares states of the files that it took in passing.
 */
const isProgress = ({ type, ephemeral, method, properties }: JsonObject): boolean =>
  type === 'message_start' ||
  type === 'message_update' ||
  type === 'stream_event' ||
  (typeof type === 'string' &&
    /^(?:session\.(?:updated|status|diff)|message\.(?:updated|part\.delta))$/.test(type)) ||
  isRunning(properties) ||
  method === 'session.diff' ||
  ephemeral === true ||
  (typeof method === 'string' && /delta$/i.test(method));

/** A part of a message of OpenCode's server that has not ended. */
function isRunning(properties: JsonValue | undefined): boolean {
  const { part } = (properties ?? {}) as { part?: { state?: { status?: string } } };
  return part?.state?.status === 'pending' || part?.state?.status === 'running';
}
