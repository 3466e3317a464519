import { element } from '../parts/element.js';

/** @import { SideName } from '../app/address.js' */
/** @import { ReadableRun } from '../../../whetstone/src/view/api.ts' */

/**
 * Two lists to choose from: a run, and the arms of it.
 * @param {string} label
 * @param {readonly ReadableRun[]} runs
 * @param {SideName} side
 * @param {(side: SideName) => void} choose
 */
export function sidePicker(label, runs, side, choose) {
  const run = runs.find(({ id }) => id === side.run);
  const arms = run
    ? [
        ...run.variants,
        ...(run.agents.length > 1
          ? [...run.agents, ...run.agents.flatMap((agent) => run.variants.map((one) => `${agent}/${one}`))]
          : []),
      ]
    : [];
  const known = side.arm === undefined || arms.includes(side.arm) ? arms : [...arms, side.arm];
  return element(
    'fieldset',
    {},
    element('legend', {}, label),
    select(
      `${label}: run`,
      runs.map(({ id, tags }) => [id, [id, ...tags].join(' · ')]),
      side.run,
      (id) => choose({ run: id }),
    ),
    select(
      `${label}: arm`,
      [['', 'all arms'], ...known.map((arm) => /** @type {[string, string]} */ ([arm, arm]))],
      side.arm ?? '',
      (arm) => choose({ run: side.run, ...(arm === '' ? {} : { arm }) }),
    ),
  );
}

/**
 * @param {string} label
 * @param {readonly (readonly [value: string, text: string])[]} options
 * @param {string} chosen
 * @param {(value: string) => void} choose
 */
function select(label, options, chosen, choose) {
  return element(
    'select',
    // The values are indices, because hostile names are shown with their characters replaced.
    { 'aria-label': label, change: ({ target }) => choose(options[Number(target.value)]?.[0] ?? '') },
    options.map(([value, text], index) =>
      element('option', { value: String(index), selected: value === chosen }, text),
    ),
  );
}
