import { element } from '../parts/element.js';

/** @import { Check } from './check.js' */

/** @typedef {'agents' | 'variants' | 'tasks'} Kind */
/** @type {[Kind, string][]} */
const KINDS = [
  ['agents', 'Agents'],
  ['variants', 'Variants'],
  ['tasks', 'Tasks'],
];

/** What of the configuration runs. Nothing chosen of a kind means all of it. */
export function selectionForm() {
  /** @type {Record<Kind, Set<string>>} */
  const chosen = { agents: new Set(), variants: new Set(), tasks: new Set() };
  const lists = element('div', { class: 'choices' });
  const number = (/** @type {string} */ name, /** @type {string} */ text, /** @type {string} */ value) =>
    element(
      'label',
      { class: 'select' },
      text,
      element('input', { type: 'number', name, value, min: 1, max: 1000 }),
    );
  const numbers = element(
    'p',
    { class: 'actions' },
    number('trials', 'Trials', '1'),
    number('jobs', 'At a time', '1'),
    element(
      'label',
      { class: 'select' },
      element('input', { type: 'checkbox', name: 'sequential' }),
      'End early when it is decided (sequential)',
    ),
  );
  const node = element(
    'form',
    { class: 'selection', submit: (event) => event.preventDefault() },
    lists,
    numbers,
  );
  const input = (/** @type {string} */ name) =>
    /** @type {HTMLInputElement} */ (node.querySelector(`[name=${name}]`));
  let offered = '';
  return {
    node,
    /** Shows what the configuration has. An invalid one has nothing, and the lists stay. @param {Check} check */
    offer({ agents, variants, tasks }) {
      if (agents === undefined || variants === undefined || tasks === undefined) return;
      const names = { agents: agents.map(({ name }) => name), variants, tasks };
      if (JSON.stringify(names) === offered) return;
      offered = JSON.stringify(names);
      for (const [kind] of KINDS) {
        for (const name of chosen[kind]) if (!names[kind].includes(name)) chosen[kind].delete(name);
      }
      lists.replaceChildren(
        ...KINDS.map(([kind, title]) =>
          element(
            'fieldset',
            {},
            element('legend', {}, title),
            names[kind].map((name) =>
              element(
                'label',
                { class: 'choice' },
                element('input', {
                  type: 'checkbox',
                  checked: chosen[kind].has(name),
                  change: ({ target }) => {
                    if (target.checked) chosen[kind].add(name);
                    else chosen[kind].delete(name);
                  },
                }),
                name,
              ),
            ),
            element('span', { class: 'note' }, 'none chosen: all'),
          ),
        ),
      );
    },
    selection: () => ({
      agents: [...chosen.agents],
      variants: [...chosen.variants],
      tasks: [...chosen.tasks],
      trials: Number(input('trials').value),
      jobs: Number(input('jobs').value),
      sequential: input('sequential').checked,
    }),
  };
}
