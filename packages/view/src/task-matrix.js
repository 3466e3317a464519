import { caseAddress } from './address.js';
import { element } from './element.js';
import { table } from './parts.js';

/** @import { CaseEntry, RunDetail } from '../../whetstone/src/view/api.ts' */

/** @type {Record<string, { sign: string, word: string }>} */
const MARKS = {
  passed: { sign: '✓', word: 'passed' },
  failed: { sign: '✗', word: 'failed' },
  error: { sign: '!', word: 'error' },
  skipped: { sign: '–', word: 'skipped' },
  not_run: { sign: '→', word: 'not run after a pass' },
  missing: { sign: '·', word: 'not finished' },
};

/**
 * Tasks by agent and variant, with one mark per trial that links to its case.
 * @param {RunDetail} run
 */
export function taskMatrix({ id, cases, summary }) {
  const columns = summary.arms.map(({ agent, variant }) => ({
    agent,
    variant,
    head: `${agent} · ${variant}`,
  }));
  const byCell = Map.groupBy(cases, (one) => cellKey(one.task_id, one.agent_name, one.variant));
  const tasks = [...new Set(cases.map((one) => one.task_id))];
  const rows = tasks.map((task) => [
    task,
    ...columns.map(({ agent, variant }) => marks(id, byCell.get(cellKey(task, agent, variant)) ?? [])),
  ]);
  const legend = Object.values(MARKS).map(({ sign, word }) => `${sign} ${word}`);
  return [
    table('Tasks by agent and variant', [{ head: 'Task' }, ...columns], rows),
    element('p', { class: 'note' }, `A mark is a trial: ${legend.join(', ')}.`),
  ];
}

/**
 * @param {string} task
 * @param {string} agent
 * @param {string} variant
 */
const cellKey = (task, agent, variant) => JSON.stringify([task, agent, variant]);

/**
 * @param {string} run
 * @param {readonly CaseEntry[]} trials
 */
function marks(run, trials) {
  return element(
    'span',
    { class: 'marks' },
    trials.map((one) => {
      const kind = one.outcome ?? 'missing';
      const mark = MARKS[kind];
      const label = `trial ${one.trial_index}: ${mark?.word}`;
      const href = caseAddress(run, one.case_id);
      return element(
        'a',
        { class: `mark ${kind}`, href, 'aria-label': label, title: label },
        mark?.sign ?? '',
      );
    }),
  );
}
