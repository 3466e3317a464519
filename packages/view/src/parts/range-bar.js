import { svgElement } from './element.js';

const WIDTH = 120;
const HEIGHT = 16;
const MARGIN = 5;

/**
 * An estimate on its scale: a dot, its interval as a bar, and behind both the bounds within which the value lies for any
 * outcome of the cases without a result.
 * @param {object} range
 * @param {readonly [number, number]} range.scale Its two ends.
 * @param {number | null} range.estimate
 * @param {{ low: number, high: number } | null} range.interval
 * @param {readonly [number, number] | null} range.bounds
 * @param {string} range.label The text for a screen reader.
 * @param {number} [range.mark] The position of a line across the scale.
 */
export function rangeBar({ scale, estimate, interval, bounds, label, mark }) {
  const [low, high] = scale;
  /** @param {number} value */
  const x = (value) => {
    const share = Math.min(1, Math.max(0, (value - low) / (high - low)));
    return Number((MARGIN + share * (WIDTH - 2 * MARGIN)).toFixed(2));
  };
  /**
   * @param {number} from
   * @param {number} to
   * @param {number} height
   * @param {string} name
   */
  const bar = (from, to, height, name) =>
    svgElement('rect', {
      class: name,
      x: x(from) - 0.5,
      y: (HEIGHT - height) / 2,
      width: x(to) - x(from) + 1,
      height,
      rx: 1,
    });
  return svgElement(
    'svg',
    {
      class: 'range',
      width: WIDTH,
      height: HEIGHT,
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: 'img',
      'aria-label': label,
    },
    bar(low, high, 1, 'axis'),
    bounds && bar(bounds[0], bounds[1], 12, 'bounds'),
    mark === undefined
      ? null
      : svgElement('line', { class: 'mark', x1: x(mark), x2: x(mark), y1: 1, y2: HEIGHT - 1 }),
    interval === null ? null : bar(interval.low, interval.high, 4, 'interval'),
    estimate === null
      ? null
      : svgElement('circle', { class: 'estimate', cx: x(estimate), cy: HEIGHT / 2, r: 4 }),
  );
}
