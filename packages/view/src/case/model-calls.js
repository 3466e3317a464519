import { element } from '../parts/element.js';
import { dollars, seconds, tokens } from '../parts/format.js';
import { asNumber, asText, field, jsonLines } from '../parts/json-lines.js';
import { badge, table } from '../parts/parts.js';

/** @import { CaseFile } from '../../../whetstone/src/view/api.ts' */

const COLUMNS = [
  { head: '#', number: true },
  { head: 'Model' },
  { head: 'Answer' },
  { head: 'Input', number: true },
  { head: 'Cached', number: true },
  { head: 'Output', number: true },
  { head: 'Cost', number: true },
  { head: 'Took', number: true },
  { head: 'Tools called' },
  { head: 'Notes' },
];

/**
 * The requests that the gateway saw, one row per request.
 * @param {CaseFile} file
 */
export function modelCalls(file) {
  const { values, hidden } = jsonLines(file);
  return [
    table('Model calls', COLUMNS, values.map(cells)),
    hidden > 0 ? element('p', { class: 'note' }, `${hidden} calls in the middle are left out.`) : null,
  ];
}

/**
 * @param {Record<string, unknown>} call
 * @param {number} index
 */
function cells(call, index) {
  const took = asNumber(call.total_ms);
  return [
    index + 1,
    asText(call.model_answered) || asText(call.model_asked) || `${asText(call.method)} ${asText(call.path)}`,
    badge(
      `${asText(call.status)} ${asText(call.outcome)}`.trim(),
      call.outcome === 'ok' ? 'passed' : 'failed',
    ),
    tokens(asNumber(field(call.usage, 'inputTokens'))),
    tokens(asNumber(field(call.usage, 'cacheReadTokens'))),
    tokens(asNumber(field(call.usage, 'outputTokens'))),
    dollars(asNumber(call.cost_usd)),
    seconds(took === null ? null : took / 1000),
    list(call.tools_called),
    [list(call.flags), asText(call.error)].filter(Boolean).join(': '),
  ];
}

/** @param {unknown} value */
const list = (value) => (Array.isArray(value) ? value.map(asText).join(', ') : '');
