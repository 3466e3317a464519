import { caseAddress } from '../app/address.js';
import { element } from '../parts/element.js';
import { counted, dollars, tokens, UNKNOWN } from '../parts/format.js';
import { link, section, table } from '../parts/parts.js';

/** @import { Activity } from '../../../whetstone/src/view/api.ts' */

/** The last message about a run, so that a page that is drawn anew still shows it. @type {{ run: string, activity: Activity } | null} */
let last = null;

/**
 * What a running run does now: how far it is, what it has cost, and what each running agent does.
 * @param {string} run
 */
export function activityPanel(run) {
  const panel = element('div', { id: 'activity', 'data-run': run });
  if (last?.run === run) fill(panel, run, last.activity);
  return panel;
}

/**
 * @param {string} run
 * @param {Activity | null} activity `null`: nothing works on the run.
 */
export function showActivity(run, activity) {
  last = activity === null ? null : { run, activity };
  const panel = document.getElementById('activity');
  if (panel === null || panel.dataset.run !== run) return;
  if (activity === null) panel.replaceChildren();
  else fill(panel, run, activity);
}

const COLUMNS = [
  { head: 'Case' },
  { head: 'Agent' },
  { head: 'What it does' },
  { head: 'Tool calls', number: true },
  { head: 'Model calls', number: true },
  { head: 'Tokens', number: true },
  { head: 'Cost', number: true },
];

/**
 * @param {HTMLElement} panel
 * @param {string} run
 * @param {Activity} activity
 */
function fill(panel, run, { finished, planned, running, ...spent }) {
  const rows = running.map((one) => [
    link(caseAddress(run, one.case_id), `${one.task_id} · ${one.variant} · trial ${one.trial_index}`),
    one.agent_name,
    one.doing === null ? 'starts' : element('code', { class: 'doing' }, one.doing),
    one.tool_calls,
    one.model_calls ?? UNKNOWN,
    tokens(one.tokens),
    dollars(one.cost_usd),
  ]);
  const held = document.activeElement;
  const focused = panel.contains(held)
    ? [...panel.querySelectorAll('a, [tabindex]')].indexOf(/** @type {Element} */ (held))
    : -1;
  panel.replaceChildren(
    section(
      'Now',
      element(
        'p',
        { class: 'so-far' },
        element('span', {}, `${finished} of ${counted(planned, 'case')} finished`),
        element(
          'span',
          {},
          spent.cost_usd === null
            ? 'Cost not known'
            : `${dollars(spent.cost_usd, spent.cost_unknown)} so far`,
        ),
        element(
          'span',
          {},
          spent.tokens === null
            ? 'Tokens not known'
            : `${tokens(spent.tokens, spent.tokens_unknown)} tokens so far`,
        ),
      ),
      running.length === 0
        ? element('p', { class: 'note' }, 'No case runs at this moment.')
        : table('Running cases', COLUMNS, rows),
    ),
  );
  const again = focused < 0 ? undefined : panel.querySelectorAll('a, [tabindex]')[focused];
  if (again instanceof HTMLElement) again.focus({ preventScroll: true });
}
