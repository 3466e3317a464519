import { element } from '../parts/element.js';
import { seconds, tokens } from '../parts/format.js';
import { asLines, asNumber, asText, field, jsonLines } from '../parts/json-lines.js';
import { fold } from '../parts/parts.js';

/** @import { CaseFile } from '../../../whetstone/src/view/api.ts' */

const SHORT = 240;

/**
 * The events of a case in order, with the time since the first.
 * @param {CaseFile} file
 */
export function timeline(file) {
  const { values, hidden } = jsonLines(file);
  const start = Date.parse(asText(values[0]?.at));
  return [
    element(
      'ol',
      { class: 'timeline' },
      values.map((event, index) => item(event, index, start)),
    ),
    hidden > 0 ? element('p', { class: 'note' }, `${hidden} events in the middle are left out.`) : null,
  ];
}

/**
 * @param {Record<string, unknown>} event
 * @param {number} index
 * @param {number} start
 */
function item(event, index, start) {
  const after = (Date.parse(asText(event.at)) - start) / 1000;
  const { title, body } = described(event);
  return element(
    'li',
    { class: isBad(event) ? 'bad' : null },
    element('span', { class: 'at' }, Number.isFinite(after) ? `+${seconds(after)}` : ''),
    element('span', { class: 'type' }, title),
    content(body, index),
  );
}

/** @param {Record<string, unknown>} event */
const isBad = (event) => event.type === 'error' || event.status === 'failed' || event.status === 'rejected';

/**
 * @param {string} body
 * @param {number} index
 */
function content(body, index) {
  if (body.length <= SHORT && body.split('\n').length <= 4) return element('div', { class: 'body' }, body);
  const first = Array.from(body.slice(0, SHORT * 2))
    .slice(0, SHORT)
    .join('')
    .split('\n')
    .slice(0, 2)
    .join(' ');
  return element(
    'div',
    { class: 'body' },
    fold(`event ${index}`, `${first} …`, false, element('pre', { tabindex: 0 }, body)),
  );
}

/**
 * The title and the text of an event.
 * @param {Record<string, unknown>} event
 * @returns {{ title: string, body: string }}
 */
function described(event) {
  const { type, at: _, turn: __, source: ___, ...rest } = event;
  const status = asText(event.status);
  switch (type) {
    case 'message':
      return { title: asText(event.role), body: asText(event.text) };
    case 'thinking':
      return { title: 'thinking', body: asText(event.text) };
    case 'action.called':
      return { title: `calls ${asText(event.name)}`, body: asLines(event.input) };
    case 'action.result':
      return { title: `result: ${status}`, body: asLines(event.output) };
    case 'error':
      return { title: 'error', body: asText(event.message) };
    case 'usage':
      return { title: event.calls === undefined ? 'model call' : 'model calls', body: usageText(event) };
    case 'file.changed':
      return { title: `file ${asText(event.change)}`, body: asText(event.path) };
    case 'raw':
      return { title: 'native item', body: asLines(event.native) };
    default:
      return { title: asText(type), body: Object.keys(rest).length > 0 ? asLines(rest) : '' };
  }
}

/** @param {Record<string, unknown>} event */
function usageText(event) {
  /** @type {[string, unknown][]} */
  const kinds = [
    ['in', field(event.usage, 'inputTokens')],
    ['cache read', field(event.usage, 'cacheReadTokens')],
    ['out', field(event.usage, 'outputTokens')],
  ];
  const counts = kinds.flatMap(([kind, count]) =>
    typeof count === 'number' ? `${kind} ${tokens(count)}` : [],
  );
  const latency = asNumber(event.latencyMs);
  return [asText(event.model), ...counts, latency === null ? '' : seconds(latency / 1000)]
    .filter(Boolean)
    .join(', ');
}
