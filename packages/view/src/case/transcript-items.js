/**
 * An event, with its result if it is a call. `depth`: how many sub-agents it is below. `index`: of the event, from 0.
 * `opens`: the turn that begins with it, from 1, where there are several.
 * @typedef {{ event: Record<string, unknown>, result: Record<string, unknown> | undefined, index: number, depth: number, opens?: number }} Item
 */

/** @type {Record<string, string>} */
const RESULTS = { 'action.called': 'action.result', 'subagent.called': 'subagent.completed' };

/**
 * The events with each result at its call. A result without a call, and a second one, stay items of their own. A delegation
 * that a tool call made is one item with it: both have the same call id.
 * @param {readonly Record<string, unknown>[]} events
 * @returns {Item[]}
 */
export function transcriptItems(events) {
  /** @type {Map<string, Record<string, unknown>>} */
  const results = new Map();
  for (const event of events) {
    const key = keyOf(event.type, event.callId);
    if (key !== undefined && isResult(event) && !results.has(key)) results.set(key, event);
  }
  const used = new Set();
  /** @type {Map<unknown, number>} */
  const depths = new Map();
  /** @type {Item[]} */
  const items = [];
  for (const [index, event] of events.entries()) {
    if (used.has(event)) continue;
    const parent = depths.get(event.parentCallId);
    const depth = parent === undefined ? 0 : parent + 1;
    const wanted = typeof event.type === 'string' ? RESULTS[event.type] : undefined;
    const result = wanted === undefined ? undefined : results.get(keyOf(wanted, event.callId) ?? '');
    if (wanted !== undefined && typeof event.callId === 'string') {
      const isSecondName = event.type === 'subagent.called' && depths.has(event.callId);
      if (result !== undefined) used.add(result);
      if (isSecondName) continue;
      depths.set(event.callId, depth);
    }
    items.push({ event, result, index, depth });
  }
  return withTurns(items);
}

/**
 * What the host reports after all turns belongs to none.
 * @param {Item[]} items
 */
function withTurns(items) {
  /** @type {Map<unknown, Item>} */
  const opening = new Map();
  for (const item of items) {
    const { turn } = item.event;
    if (typeof turn === 'number' && !opening.has(turn)) opening.set(turn, item);
  }
  if (opening.size < 2) return items;
  return items.map((item) =>
    opening.get(item.event.turn) === item ? { ...item, opens: Number(item.event.turn) + 1 } : item,
  );
}

/** @param {Record<string, unknown>} event */
const isResult = (event) => event.type === 'action.result' || event.type === 'subagent.completed';

/**
 * @param {unknown} type
 * @param {unknown} callId
 */
const keyOf = (type, callId) =>
  typeof type === 'string' && typeof callId === 'string' ? JSON.stringify([type, callId]) : undefined;
