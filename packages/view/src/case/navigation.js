import { caseAddress, pairAddress } from '../app/address.js';
import { element } from '../parts/element.js';

/** @import { Child } from '../parts/element.js' */
/** @import { Keys } from '../app/page.js' */
/** @import { CaseEntry, RunDetail } from '../../../whetstone/src/view/api.ts' */

/**
 * Links to the case before and after, in planned order, also by the keys `p` and `n`.
 * @param {string} run
 * @param {string} caseId
 * @param {RunDetail} all
 * @param {Keys} keys
 */
export function neighbours(run, caseId, { cases: { lines } }, keys) {
  const index = lines.findIndex(([id]) => id === caseId);
  const ends = /** @type {const} */ ([
    ['p', '←', 'Previous case', lines[index - 1]],
    ['n', '→', 'Next case', lines[index + 1]],
  ]);
  return element(
    'span',
    { class: 'neighbours' },
    ends.map(([key, sign, does, line]) => {
      if (line === undefined) return null;
      const href = caseAddress(run, line[0]);
      keys.set(key, {
        does,
        press: () => {
          location.hash = href;
        },
      });
      return element('a', { class: 'step', href, 'aria-label': does, title: `${does} (${key})` }, sign);
    }),
  );
}

/**
 * All cases of the same task, by arm, so that a reader sees at once what others made of it.
 * @param {string} run
 * @param {CaseEntry} planned
 * @param {RunDetail} all
 */
export function sameTask(run, planned, all) {
  return casesOfTask('Cases of this task', planned, all, (id) => caseAddress(run, id));
}

/**
 * The cases of a task as dots, by arm. The one that is shown is marked.
 * @param {string} label
 * @param {CaseEntry} planned
 * @param {RunDetail} all
 * @param {(id: string) => string} addressOf
 */
export function casesOfTask(label, planned, { cases: { texts, lines } }, addressOf) {
  const same = lines.filter((line) => texts[line[2]] === planned.task_id);
  if (same.length < 2) return null;
  const byArm = Map.groupBy(same, (line) => JSON.stringify([texts[line[3]], texts[line[1]]]));
  return element(
    'nav',
    { class: 'same-task', 'aria-label': label },
    [...byArm.values()].map((trials) => {
      const [first] = trials;
      return element(
        'span',
        { class: 'same-arm' },
        first ? `${texts[first[3]]} · ${texts[first[1]]}` : '',
        trials.map(([id, , , , trial, outcome, , evidence]) => {
          const what = `trial ${trial}: ${outcome ?? 'not finished'}`;
          return element('a', {
            class: `dot ${outcome ?? 'missing'}`,
            href: addressOf(id),
            'aria-current': id === planned.case_id ? 'page' : null,
            'aria-label': what,
            title: evidence === null ? what : `${what}\n${texts[evidence]}`,
          });
        }),
      );
    }),
  );
}

/**
 * A link to this case beside the same trial of another arm: that of the baseline, or else of the next arm. Also by the key `b`.
 * @param {string} run
 * @param {CaseEntry} planned
 * @param {RunDetail} all
 * @param {Keys} keys
 */
export function beside(run, planned, { cases: { texts, lines }, manifest: { baseline } }, keys) {
  const others = lines.filter(
    (line) =>
      texts[line[2]] === planned.task_id &&
      (texts[line[3]] !== planned.variant || texts[line[1]] !== planned.agent_name),
  );
  /** @param {typeof lines[number]} line */
  const rank = (line) =>
    (texts[line[1]] === planned.agent_name ? 4 : 0) +
    (texts[line[3]] === baseline ? 2 : 0) +
    (line[4] === planned.trial_index ? 1 : 0);
  const [other] = others.sort((a, b) => rank(b) - rank(a));
  if (other === undefined) return null;
  const [own, that] = [
    { run, case: planned.case_id },
    { run, case: other[0] },
  ];
  // The baseline stands on the left.
  const href = planned.variant === baseline ? pairAddress(own, that) : pairAddress(that, own);
  const does = `Side by side with ${texts[other[3]]} · ${texts[other[1]]}, trial ${other[4]}`;
  keys.set('b', {
    does,
    press: () => {
      location.hash = href;
    },
  });
  return element('p', { class: 'beside' }, element('a', { class: 'button', href }, does));
}

/**
 * Links to the sections of a page. They scroll, because the hash of the address is the page.
 * @param {readonly Child[]} parts
 */
export function contents(parts) {
  const sections = parts.flatMap((part) => (part instanceof HTMLElement ? part : []));
  const links = sections.flatMap((part) => {
    const title = part.querySelector('h2')?.textContent;
    return title
      ? element('button', { type: 'button', click: () => part.scrollIntoView({ block: 'start' }) }, title)
      : [];
  });
  return element('nav', { class: 'contents', 'aria-label': 'Sections' }, links);
}
