import { askRange, rawAddress } from '../app/server.js';
import { element, nodes } from '../parts/element.js';
import { bytes } from '../parts/format.js';

/** @import { Child } from '../parts/element.js' */
/** @import { CaseFile } from '../../../whetstone/src/view/api.ts' */

/** How much more a reader gets at once. */
const STEP = 256 * 1024;

/** Colours, cursor moves and titles of a terminal. */
const TERMINAL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to be removed
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]P_^X][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/** Which file of which case. @typedef {{ run: string, case: string }} CaseAddress */

/**
 * The end of a log, and on demand what is before it: any log can be read whole, a part at a time.
 * @param {CaseAddress} place
 * @param {CaseFile} file
 */
export function log({ run, case: caseId }, file) {
  const text = file.omitted_bytes > 0 ? file.tail : file.head;
  const pre = element('pre', { class: 'log', tabindex: 0 }, text);
  const address = rawAddress(run, caseId, file.name);
  let start = file.omitted_bytes;
  if (start === 0 || address === null) return [pre, footer(address, file)];
  const more = element('button', { type: 'button' });
  const say = () => {
    more.textContent = `Show ${bytes(Math.min(STEP, start))} before this (${bytes(start)} left)`;
    more.hidden = start === 0;
  };
  more.addEventListener('click', async () => {
    const from = Math.max(0, start - STEP);
    const before = await askRange(address, from, start).catch(() => null);
    if (before === null) {
      more.textContent = 'The server does not answer; try again';
      return;
    }
    start = from;
    pre.prepend(...nodes([before.replace(TERMINAL, '').replace(/\r\n?/g, '\n')]));
    say();
  });
  say();
  return [more, pre, footer(address, file)];
}

/**
 * What is left out of a file, and where its bytes are.
 * @param {CaseAddress} place
 * @param {CaseFile} file
 * @returns {Child}
 */
export const bytesOf = ({ run, case: caseId }, file) => footer(rawAddress(run, caseId, file.name), file);

/**
 * @param {string | null} address
 * @param {CaseFile} file
 */
function footer(address, { head, tail, bytes: size, omitted_bytes: omitted }) {
  const where = head === '' ? 'beginning' : tail === '' ? 'end' : 'middle';
  return element(
    'p',
    { class: 'note bytes' },
    omitted === 0 ? null : `${bytes(omitted)} of ${bytes(size)} left out at the ${where}. `,
    address === null ? null : element('a', { href: address, download: '' }, `Download (${bytes(size)})`),
  );
}
