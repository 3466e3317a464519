import { callsOf } from '../case/waterfall.js';
import { element, svgElement } from '../parts/element.js';
import { seconds } from '../parts/format.js';

/** @import { CaseFile } from '../../../whetstone/src/view/api.ts' */
/** @import { Call } from '../case/waterfall.js' */

const LANE = 16;

/**
 * The model calls and tool calls of both sides on one scale of time, each from its own first call on.
 * @param {ReadonlyMap<string, CaseFile>} a
 * @param {ReadonlyMap<string, CaseFile>} b
 */
export function timelines(a, b) {
  const sides = [a, b].map((files) => timed(callsOf(files.get('model-calls'), files.get('events'))));
  const longest = Math.max(...sides.map(({ span }) => span));
  if (longest <= 0) return element('p', { class: 'note' }, 'No call has a time.');
  return element(
    'div',
    { class: 'timelines' },
    sides.map(({ calls, first, span }, index) => [
      element('span', { class: 'side-name' }, index === 0 ? 'A' : 'B'),
      svgElement(
        'svg',
        {
          width: '100%',
          height: 2 * LANE + 4,
          role: 'img',
          'aria-label': `${index === 0 ? 'A' : 'B'}: ${calls.length} calls in ${seconds(span / 1000)}`,
        },
        svgElement('rect', { class: 'axis', x: 0, y: LANE, width: '100%', height: 1 }),
        calls.map(({ kind, start, end, name }) =>
          svgElement(
            'rect',
            {
              class: kind,
              x: `${((100 * (start - first)) / longest).toFixed(2)}%`,
              y: kind === 'model' ? 2 : LANE + 3,
              width: `${Math.max(0.2, (100 * (end - start)) / longest).toFixed(2)}%`,
              height: LANE - 4,
              rx: 2,
            },
            svgElement('title', {}, `${name}, ${seconds((end - start) / 1000)}`),
          ),
        ),
      ),
      element('span', { class: 'note' }, seconds(span / 1000)),
    ]),
    element('p', { class: 'note' }, 'Above the line: model calls. Below it: tool calls.'),
  );
}

/** @param {readonly Call[]} calls */
function timed(calls) {
  const known = calls.filter(({ start, end }) => Number.isFinite(start) && Number.isFinite(end));
  const first = Math.min(...known.map(({ start }) => start));
  const span = known.length === 0 ? 0 : Math.max(1, Math.max(...known.map(({ end }) => end)) - first);
  return { calls: known, first, span };
}
