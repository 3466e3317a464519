import { element } from '../parts/element.js';
import { counted } from '../parts/format.js';
import { badge, fold, table } from '../parts/parts.js';
import { findings } from './diagnostics.js';

/** @import { Check } from './check.js' */

/**
 * What `whetstone run --dry-run --json` prints, as far as the page uses it.
 * @typedef {{ seed: string, order: string[], cases: unknown[], again: string[],
 *   commands: { agent: string, case: string, command: string, resume_command?: string }[],
 *   problems: { message: string, hint?: string }[], sandbox?: unknown }} DryRun
 */

const ORDER_SHOWN = 200;

/**
 * The commands that would run, each for one representative case. Values of variables are not in them.
 * @param {DryRun} plan
 */
export function preview({ cases, order, commands, problems, again, seed }) {
  return element(
    'div',
    {},
    element(
      'p',
      {},
      `${counted(cases.length, 'case')}, of which ${order.length} would start. Seed ${seed}. ${again.join(' ')}`,
    ),
    problems.length === 0
      ? null
      : element(
          'ul',
          { class: 'problem', 'aria-label': 'What keeps the run from starting' },
          problems.map(({ message, hint }) =>
            element('li', {}, message, hint === undefined ? null : element('div', { class: 'note' }, hint)),
          ),
        ),
    commands.map(({ agent, case: id, command, resume_command: resume }) => [
      element('h3', {}, agent, element('span', { class: 'note' }, ` as for ${id}`)),
      element('pre', { tabindex: 0, class: 'command' }, command),
      resume === undefined ? null : element('pre', { tabindex: 0 }, `then ${resume}`),
    ]),
    fold(
      'order',
      'Starting order',
      false,
      element(
        'ol',
        {},
        order.slice(0, ORDER_SHOWN).map((id) => element('li', {}, id)),
      ),
    ),
  );
}

/**
 * Whether the programs, variables and keys that a run needs are there. Starts no agent.
 * @param {Check} check
 * @param {string} file
 * @param {(line: number, column: number) => void} goTo
 */
export function preflight({ valid, diagnostics, executables = [] }, file, goTo) {
  return element(
    'div',
    {},
    element(
      'p',
      {},
      badge(valid ? 'ready' : 'not ready', valid ? 'passed' : 'failed'),
      ' No agent was started, and no provider was asked.',
    ),
    executables.length === 0
      ? null
      : table(
          'Programs of the agents',
          [{ head: 'Where' }, { head: 'Program' }, { head: 'Found' }],
          executables.map((one) => [
            one.path.join('.'),
            one.executable ?? '',
            one.kind === 'found' ? (one.file ?? '') : `${one.kind}: ${one.reason ?? ''}`,
          ]),
        ),
    findings(diagnostics, file, goTo),
  );
}
