/** @import { CaseLine, RunDetail } from '../../../whetstone/src/view/api.ts' */
/** @import { Summary } from '../../../whetstone/src/report/summary.ts' */

/**
 * One case of the matrix. `search` is what a search looks through.
 * @typedef {object} Trial
 * @property {string} id
 * @property {number} trial
 * @property {NonNullable<CaseLine[5]> | 'missing'} outcome
 * @property {string} failureClass Empty where there is none.
 * @property {string} evidence
 * @property {number | null} seconds
 * @property {number | null} cost
 */

/** @typedef {{ trials: Trial[], passed: number, known: number }} HeatCell `known`: trials that passed or failed. */

/**
 * @typedef {object} TaskRow
 * @property {string} task
 * @property {HeatCell[]} cells One per arm, in the order of the arms.
 * @property {number} gap The largest difference of a pass rate to the baseline of the same agent, from −1 to 1.
 * @property {number | null} rate Passed trials of all trials that passed or failed.
 * @property {number | null} cost `null` where the cost of any trial is unknown.
 * @property {number | null} seconds
 */

/**
 * The tasks of a run in planned order, with their trials by arm.
 * @param {RunDetail} run
 * @returns {TaskRow[]}
 */
export function taskRows({ cases: { texts, lines }, summary }) {
  const columns = new Map(summary.arms.map(({ agent, variant }, index) => [armKey(agent, variant), index]));
  /** @type {Map<number, TaskRow>} */
  const rows = new Map();
  /** @param {number | null} index */
  const text = (index) => (index === null ? '' : (texts[index] ?? ''));
  for (const [id, agent, task, variant, trial, outcome, failureClass, evidence, seconds, , cost] of lines) {
    const row = rows.get(task) ?? emptyRow(text(task), summary.arms.length);
    rows.set(task, row);
    const cell = row.cells[columns.get(armKey(text(agent), text(variant))) ?? -1];
    cell?.trials.push({
      ...{ id, trial, outcome: outcome ?? 'missing' },
      ...{ failureClass: text(failureClass), evidence: text(evidence), seconds, cost },
    });
  }
  for (const row of rows.values()) count(row, summary);
  return [...rows.values()];
}

/**
 * @param {string} agent
 * @param {string} variant
 */
const armKey = (agent, variant) => JSON.stringify([agent, variant]);

/**
 * @param {string} task
 * @param {number} arms
 * @returns {TaskRow}
 */
const emptyRow = (task, arms) => ({
  ...{ task, gap: 0, rate: null, cost: null, seconds: null },
  cells: Array.from({ length: arms }, () => ({ trials: [], passed: 0, known: 0 })),
});

/**
 * @param {TaskRow} row
 * @param {Pick<Summary, 'arms' | 'baseline'>} summary
 */
function count(row, { arms, baseline }) {
  for (const cell of row.cells) {
    for (const { outcome } of cell.trials) {
      if (outcome === 'passed') cell.passed++;
      if (outcome === 'passed' || outcome === 'failed') cell.known++;
    }
  }
  for (const [index, arm] of arms.entries()) {
    const base = arms.findIndex((other) => other.agent === arm.agent && other.variant === baseline);
    const [rate, before] = [rateOf(row.cells[index]), rateOf(row.cells[base])];
    if (rate === undefined || before === undefined) continue;
    if (Math.abs(rate - before) > Math.abs(row.gap)) row.gap = rate - before;
  }
  const finished = row.cells.flatMap(({ trials }) =>
    trials.filter(({ outcome }) => outcome !== 'missing' && outcome !== 'not_run'),
  );
  const known = row.cells.reduce((sum, cell) => sum + cell.known, 0);
  row.rate = known === 0 ? null : row.cells.reduce((sum, cell) => sum + cell.passed, 0) / known;
  row.cost = total(finished.map(({ cost }) => cost));
  row.seconds = total(finished.map(({ seconds }) => seconds));
}

/** @param {HeatCell | undefined} cell */
const rateOf = (cell) => (cell === undefined || cell.known === 0 ? undefined : cell.passed / cell.known);

/** @param {(number | null)[]} values */
function total(values) {
  let sum = values.length === 0 ? null : 0;
  for (const value of values) sum = sum === null || value === null ? null : sum + value;
  return sum;
}

/**
 * What a reader chose. `show`: all tasks, those whose arms differ, or those with a trial that did not pass.
 * @typedef {{ q: string, show: string, class: string, sort: string }} Choice
 */

export const SHOWS = { '': 'All tasks', flipped: 'Only flipped', failed: 'Only not passed' };

export const SORTS = {
  '': 'planned order',
  task: 'name',
  hardest: 'hardest first',
  gain: 'largest gain',
  loss: 'largest loss',
  cost: 'highest cost',
  time: 'longest time',
};

/** @type {Record<string, (a: TaskRow, b: TaskRow) => number>} */
const ORDERS = {
  task: (a, b) => a.task.localeCompare(b.task, 'en', { numeric: true }),
  hardest: (a, b) => (a.rate ?? 2) - (b.rate ?? 2),
  gain: (a, b) => b.gap - a.gap,
  loss: (a, b) => a.gap - b.gap,
  cost: (a, b) => (b.cost ?? -1) - (a.cost ?? -1),
  time: (a, b) => (b.seconds ?? -1) - (a.seconds ?? -1),
};

/**
 * The rows that a choice leaves, in its order. Every word of a search has to be in the task or in the evidence of one of
 * its trials.
 * @param {readonly TaskRow[]} rows
 * @param {Choice} choice
 */
export function chosenRows(rows, { q, show, class: failureClass, sort }) {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const left = rows.filter(
    (row) =>
      (show !== 'flipped' || row.gap !== 0) &&
      (show !== 'failed' || hasTrial(row, ({ outcome }) => outcome === 'failed' || outcome === 'error')) &&
      (failureClass === '' || hasTrial(row, (trial) => trial.failureClass === failureClass)) &&
      words.every((word) => isFound(row, word)),
  );
  const order = ORDERS[sort];
  return order ? left.sort(order) : left;
}

/**
 * @param {TaskRow} row
 * @param {string} word
 */
const isFound = (row, word) =>
  row.task.toLowerCase().includes(word) ||
  hasTrial(row, ({ evidence }) => evidence.toLowerCase().includes(word));

/**
 * @param {TaskRow} row
 * @param {(trial: Trial) => boolean} test
 */
const hasTrial = (row, test) => row.cells.some(({ trials }) => trials.some(test));
