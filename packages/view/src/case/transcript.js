import { element } from '../parts/element.js';
import { callTime, dollars, seconds, tokens } from '../parts/format.js';
import { asLines, asNumber, asText, field, jsonLines } from '../parts/json-lines.js';
import { fold } from '../parts/parts.js';
import { transcriptItems } from './transcript-items.js';

/** @import { CaseFile } from '../../../whetstone/src/view/api.ts' */
/** @import { Item } from './transcript-items.js' */

const SHORT = 600;

/**
 * What the agent did, in order: a tool call with its result is one item, and what a sub-agent did stands below its call.
 * @param {CaseFile} file
 */
export function transcript(file) {
  const { values, hidden } = jsonLines(file);
  const start = Date.parse(asText(values[0]?.at));
  return [
    element(
      'ol',
      { class: 'transcript' },
      transcriptItems(values).flatMap((item) => [...turnLine(item), draw(item, start)]),
    ),
    hidden > 0 ? element('p', { class: 'note' }, `${hidden} events in the middle are left out.`) : null,
  ];
}

/** @param {Item} item */
const turnLine = ({ opens }) =>
  opens === undefined ? [] : [element('li', { class: 'turn' }, `Turn ${opens}`)];

/**
 * @param {Item} item
 * @param {number} start
 */
function draw(item, start) {
  const { event, result, index, depth } = item;
  const after = (Date.parse(asText(event.at)) - start) / 1000;
  const took = result ? Date.parse(asText(result.at)) - Date.parse(asText(event.at)) : Number.NaN;
  const made = element(
    'li',
    {
      class: [kindOf(event), isBad(event) || isBad(result) ? 'bad' : ''].join(' ').trim(),
      'data-event': index + 1,
    },
    element('span', { class: 'at' }, Number.isFinite(after) ? `+${seconds(after)}` : ''),
    element('div', { class: 'body' }, content(event, result, index)),
    element('span', { class: 'took' }, Number.isFinite(took) ? callTime(took) : ''),
  );
  made.style.setProperty('--depth', String(Math.min(depth, 6)));
  return made;
}

/** @type {Record<string, string>} */
const KINDS = {
  message: 'message',
  thinking: 'thinking',
  'action.called': 'call',
  'action.result': 'call',
  'subagent.called': 'call',
  'subagent.completed': 'call',
  error: 'error',
};

/** @param {Record<string, unknown>} event */
const kindOf = (event) => KINDS[asText(event.type)] ?? 'aside';

/** @param {Record<string, unknown> | undefined} event */
const isBad = (event) =>
  event?.type === 'error' || event?.status === 'failed' || event?.status === 'rejected';

/**
 * @param {Record<string, unknown>} event
 * @param {Record<string, unknown> | undefined} result
 * @param {number} index
 */
function content(event, result, index) {
  const { type, at: _, turn: __, source: ___, ...rest } = event;
  switch (type) {
    case 'message':
      return [
        element('span', { class: 'who' }, asText(event.role)),
        long(asText(event.text), index, event.role === 'user'),
      ];
    case 'thinking':
      return [element('span', { class: 'who' }, 'thinking'), long(asText(event.text), index, false)];
    case 'action.called':
    case 'subagent.called':
      return call(event, result, index);
    case 'action.result':
    case 'subagent.completed':
      return [element('span', { class: 'who' }, `result: ${asText(event.status)}`), output(event, index)];
    case 'error':
      return [element('span', { class: 'who' }, 'error'), long(asText(event.message), index, false)];
    case 'usage':
      return aside(event.calls === undefined ? 'model call' : 'model calls', usageText(event));
    case 'file.changed':
      return aside(`file ${asText(event.change)}`, asText(event.path));
    case 'raw':
      return [element('span', { class: 'who' }, 'native item'), long(asLines(event.native), index, true)];
    default:
      return Object.keys(rest).length === 0
        ? aside(asText(type), '')
        : aside(asText(type), oneLine(asLines(rest)));
  }
}

/**
 * @param {string} title
 * @param {string} text
 */
const aside = (title, text) => [element('span', { class: 'who' }, title), element('span', {}, text)];

/**
 * @param {Record<string, unknown>} event
 * @param {Record<string, unknown> | undefined} result
 * @param {number} index
 */
function call(event, result, index) {
  const input = event.input ?? (event.type === 'subagent.called' ? 'a sub-agent' : '');
  const text = asLines(input);
  // A call of one short argument is read at once; everything else unfolds.
  const values = typeof input === 'object' && input !== null ? Object.values(input) : [input];
  const first = values.find((value) => typeof value === 'string') ?? text;
  const status = result === undefined ? 'no result' : asText(result.status);
  const isFailed = isBad(result);
  return fold(
    `event ${index}`,
    [
      element('span', { class: 'tool' }, asText(event.name)),
      ' ',
      element('code', { class: 'input' }, oneLine(asText(first))),
      status === 'completed' ? null : element('span', { class: 'status' }, ` ${status}`),
    ],
    isFailed,
    values.length > 1 || text.includes('\n') ? element('pre', { tabindex: 0 }, text) : null,
    result === undefined ? null : output(result, index),
  );
}

/**
 * @param {Record<string, unknown>} event
 * @param {number} index
 */
const output = (event, index) => long(asLines(field(event.output, 'output') ?? event.output), index, true);

/** @param {string} text */
function oneLine(text) {
  const [line = ''] = text.slice(0, 2000).trim().split('\n');
  return line.length < text.trim().length ? `${line.slice(0, 200)} …` : line;
}

/**
 * @param {string} body
 * @param {number} index
 * @param {boolean} isCode
 */
function long(body, index, isCode) {
  const whole = () =>
    isCode ? element('pre', { tabindex: 0 }, body) : element('div', { class: 'said' }, body);
  if (body.length <= SHORT && body.split('\n').length <= 14) return whole();
  const first = Array.from(body.slice(0, SHORT)).slice(0, 160).join('').split('\n').slice(0, 2).join(' ');
  return fold(`text ${index}`, element('span', { class: 'first' }, `${first} …`), false, whole());
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
    typeof count === 'number' && (count > 0 || kind !== 'cache read') ? `${kind} ${tokens(count)}` : [],
  );
  const latency = asNumber(event.latencyMs);
  const cost = asNumber(event.costUsd);
  return [
    asText(event.model),
    ...counts,
    cost === null ? '' : dollars(cost),
    latency === null ? '' : callTime(latency),
  ]
    .filter(Boolean)
    .join(' · ');
}
