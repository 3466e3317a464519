import { caseAddress } from '../app/address.js';
import { element, svgElement } from '../parts/element.js';
import { callTime, dollars, tokens, UNKNOWN } from '../parts/format.js';
import { asNumber, asText, field, jsonLines } from '../parts/json-lines.js';
import { badge, link, table } from '../parts/parts.js';
import { transcriptItems } from './transcript-items.js';

/** @import { Child } from '../parts/element.js' */
/** @import { CaseFile } from '../../../whetstone/src/view/api.ts' */

/** `id`: of a model call. Times in milliseconds; `NaN`: not known. @typedef {{ kind: 'model' | 'tool', id?: string, name: string, start: number, end: number, cells: Child[] }} Call */

const COLUMNS = [
  { head: 'Call' },
  { head: 'When' },
  { head: 'Answer' },
  { head: 'Input', number: true },
  { head: 'Cached', number: true },
  { head: 'Output', number: true },
  { head: 'Cost', number: true },
  { head: 'Took', number: true },
  { head: 'Notes' },
];

/**
 * The requests that the gateway saw and, between them, the tool calls of the agent, each where it lies in time. A request leads to
 * what was in it.
 * @param {{ run: string, case: string }} place
 * @param {CaseFile} ledger
 * @param {CaseFile | undefined} events
 */
export function waterfall(place, ledger, events) {
  const { hidden } = jsonLines(ledger);
  const calls = callsOf(ledger, events);
  const known = calls.filter(({ start, end }) => Number.isFinite(start) && Number.isFinite(end));
  const first = Math.min(...known.map(({ start }) => start));
  const span = Math.max(1, Math.max(...known.map(({ end }) => end)) - first);
  const rows = calls.map(({ kind, id, start, end, cells: [name = '', ...others] }) => [
    id ? link(`${caseAddress(place.run, place.case)}?${new URLSearchParams({ call: id })}`, name) : name,
    bar(kind, (start - first) / span, (end - first) / span),
    ...others,
  ]);
  return [
    table('Calls over time', COLUMNS, rows),
    hidden > 0 ? element('p', { class: 'note' }, `${hidden} calls in the middle are left out.`) : null,
  ];
}

/**
 * The calls of both files in the order of their time.
 * @param {CaseFile | undefined} ledger
 * @param {CaseFile | undefined} events
 */
export function callsOf(ledger, events) {
  const calls = [
    ...(ledger ? jsonLines(ledger).values.map(modelCall) : []),
    ...(events ? toolCalls(events) : []),
  ];
  // A call whose time nobody knows stays where it is in its file, before the others.
  return calls.sort((a, b) => (a.start || 0) - (b.start || 0));
}

/**
 * @param {string} kind
 * @param {number} from
 * @param {number} to
 */
function bar(kind, from, to) {
  if (!Number.isFinite(from) || !Number.isFinite(to)) return null;
  const percent = (/** @type {number} */ share) => `${(100 * share).toFixed(2)}%`;
  return svgElement(
    'svg',
    { class: `when ${kind}`, width: '100%', height: 14, 'aria-hidden': 'true' },
    svgElement('rect', { class: 'axis', x: 0, y: 7, width: '100%', height: 1 }),
    svgElement('rect', {
      x: percent(Math.min(from, 0.99)),
      y: 2,
      width: percent(Math.max(0.008, to - from)),
      height: 10,
      rx: 2,
    }),
  );
}

/**
 * @param {Record<string, unknown>} call
 * @returns {Call}
 */
function modelCall(call) {
  const took = asNumber(call.total_ms);
  const start = Date.parse(asText(call.at));
  const model = asText(call.model_answered) || asText(call.model_asked);
  const cached = asNumber(field(call.usage, 'cacheReadTokens'));
  const name = model || `${asText(call.method)} ${asText(call.path)}`.trim() || UNKNOWN;
  return {
    kind: 'model',
    id: asText(call.id),
    name,
    start,
    end: start + (took ?? Number.NaN),
    cells: [
      name,
      badge(
        `${asText(call.status)} ${asText(call.outcome)}`.trim(),
        call.outcome === 'ok' ? 'passed' : 'failed',
      ),
      tokens(asNumber(field(call.usage, 'inputTokens'))),
      tokens(cached),
      tokens(asNumber(field(call.usage, 'outputTokens'))),
      dollars(asNumber(call.cost_usd)),
      callTime(took),
      [list(call.tools_called) && `asks for ${list(call.tools_called)}`, list(call.flags), asText(call.error)]
        .filter(Boolean)
        .join('; '),
    ],
  };
}

/**
 * @param {CaseFile} events
 * @returns {Call[]}
 */
function toolCalls(events) {
  return transcriptItems(jsonLines(events).values).flatMap(({ event, result, index }) => {
    if (event.type !== 'action.called') return [];
    const [start, end] = [Date.parse(asText(event.at)), Date.parse(asText(result?.at))];
    const status = result === undefined ? 'no result' : asText(result.status);
    return {
      kind: /** @type {const} */ ('tool'),
      name: asText(event.name) || UNKNOWN,
      start,
      end,
      cells: [
        element('span', { class: 'tool' }, asText(event.name) || UNKNOWN),
        badge(status, status === 'completed' ? 'plain' : 'failed'),
        ...['', '', '', ''],
        Number.isFinite(end - start) ? callTime(end - start) : '',
        `event ${index + 1}`,
      ],
    };
  });
}

/** @param {unknown} value */
const list = (value) => (Array.isArray(value) ? value.map(asText).join(', ') : '');
