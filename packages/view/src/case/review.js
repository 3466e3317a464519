import { act, isFile } from '../app/server.js';
import { element } from '../parts/element.js';
import { section } from '../parts/parts.js';

/** @import { CaseName } from '../app/address.js' */
/** @import { RunLabels } from '../../../whetstone/src/view/api.ts' */

/**
 * What a person says about a case. It changes no result: it shows how far the judge of a run agrees with people.
 * @param {CaseName} place
 * @param {RunLabels} known
 */
export function review({ run, case: caseId }, known) {
  if (isFile) return null;
  const panel = element('div', { class: 'review' });
  /** @param {RunLabels} state @param {string} problem */
  const draw = (state, problem = '') => {
    const own = state.labels.find(({ id }) => id === caseId);
    const note = /** @type {HTMLTextAreaElement} */ (
      element('textarea', { 'aria-label': 'Note', rows: 2, placeholder: 'Why (optional)' })
    );
    note.value = own?.note ?? '';
    /** @param {string} text @param {'passed' | 'failed' | null} human */
    const choice = (text, human) =>
      element(
        'button',
        {
          type: 'button',
          'aria-pressed': String(own !== undefined && own.human === human),
          click: () =>
            act({ human, note: note.value }, 'runs', run, 'cases', caseId, 'label').then(draw, (error) =>
              draw(state, error.message),
            ),
        },
        text,
      );
    panel.replaceChildren(
      element(
        'div',
        { class: 'segments', role: 'group', 'aria-label': 'Your label' },
        choice('I would pass it', 'passed'),
        choice('I would fail it', 'failed'),
        own === undefined ? null : choice('Take the label away', null),
      ),
      note,
      element('p', { class: 'note', role: 'status' }, problem === '' ? summary(state) : problem),
    );
  };
  draw(known);
  return section('Your review', panel);
}

/** @param {RunLabels} state */
function summary({ labels, agreement, problem }) {
  if (labels.length === 0) return 'Labels are kept beside the run. They change no result.';
  const count = `${labels.length} of its cases ${labels.length === 1 ? 'has' : 'have'} a label.`;
  if (agreement === null) return `${count} ${problem ?? ''}`;
  const { kappa, interval, observed, count: both } = agreement;
  const range = interval ? ` [${interval.low.toFixed(2)}, ${interval.high.toFixed(2)}]` : '';
  return `${count} The judge agrees with people on ${Math.round(observed * 100)} % of ${both}; Cohen’s κ ${kappa === null ? 'is not defined' : `${kappa.toFixed(2)}${range}`}.`;
}
