import { askCallBodies, askText, bodyAddress, isFile } from '../app/server.js';
import { element, nodes } from '../parts/element.js';
import { bytes, counted, tokens, UNKNOWN } from '../parts/format.js';
import { asNumber, asText, field, jsonLines } from '../parts/json-lines.js';
import { lateFold } from '../parts/parts.js';

/** @import { Child } from '../parts/element.js' */
/** @import { CallBodies, CaseFile } from '../../../whetstone/src/view/api.ts' */
/** @typedef {CallBodies['reply'][number]} Message */
/** @typedef {{ run: string, case: string }} CasePlace */

/** A longer text is folded. */
const SHORT = 600;
/** Messages at the end of a request that are drawn at once; those before them were in earlier requests too. */
const LAST_MESSAGES = 2;
/** Characters of a body as it was kept that are drawn; all of it can be downloaded. */
const MOST_DRAWN = 1024 * 1024;

/**
 * The model calls of a case, each with its request and its reply, which are loaded when a reader unfolds it.
 * @param {CasePlace} place
 * @param {CaseFile} ledger
 * @param {boolean} areKept Whether the case has the bodies.
 */
export function callBodies(place, ledger, areKept) {
  if (!areKept) return element('p', { class: 'note' }, 'The requests and replies were not kept.');
  if (isFile) {
    const where = 'The requests and replies are not in this file: whetstone view shows them.';
    return element('p', { class: 'note' }, where);
  }
  const { values, hidden } = jsonLines(ledger);
  return [
    hidden > 0 ? element('p', { class: 'note' }, `${hidden} calls in the middle are left out.`) : null,
    element(
      'div',
      { class: 'call-bodies' },
      values.map((line, index) => {
        const number = index < values.length / 2 || hidden === 0 ? index + 1 : index + 1 + hidden;
        const id = asText(line.id);
        const made = lateFold(`call ${id}`, summary(line, number), () => loaded(place, id));
        made.setAttribute('data-call', id);
        return made;
      }),
    ),
  ];
}

/**
 * @param {Record<string, unknown>} line
 * @param {number} number
 */
function summary(line, number) {
  const model = asText(line.model_answered) || asText(line.model_asked) || asText(line.path) || UNKNOWN;
  const [input, output] = ['inputTokens', 'outputTokens'].map((kind) => asNumber(field(line.usage, kind)));
  const counts = input === null ? '' : `${tokens(input ?? null)} in, ${tokens(output ?? null)} out`;
  return [
    element('span', { class: 'number' }, `Call ${number}`),
    element('span', { class: 'tool' }, model),
    element('span', { class: 'note' }, counts),
  ];
}

/**
 * @param {CasePlace} place
 * @param {string} id
 */
function loaded(place, id) {
  const box = element('div', { class: 'loaded', 'aria-busy': 'true' }, 'Loading …');
  askCallBodies(place.run, place.case, id)
    .then(
      (bodies) => drawBodies(place, bodies),
      () => element('p', { class: 'note' }, 'The request and the reply of this call were not kept.'),
    )
    .then((content) => {
      box.replaceChildren(...nodes([content]));
      box.removeAttribute('aria-busy');
    });
  return box;
}

/**
 * @param {CasePlace} place
 * @param {CallBodies} bodies
 * @returns {Child}
 */
function drawBodies(place, { id, request, reply, cut, ...sizes }) {
  return [
    cut > 0 ? element('p', { class: 'note' }, `${bytes(cut)} of long texts are cut here.`) : null,
    element('h3', {}, 'Request'),
    request === null
      ? element('p', { class: 'note' }, 'The request cannot be read as one of its protocol.')
      : drawRequest(id, request),
    rawBody(place, id, 'request', sizes.request_characters, sizes.request_omitted),
    element('h3', {}, 'Reply'),
    reply.length === 0
      ? element('p', { class: 'note' }, 'The reply has no message.')
      : drawMessages(`${id} reply`, reply),
    rawBody(place, id, 'reply', sizes.reply_characters, sizes.reply_omitted),
  ];
}

/**
 * @param {string} id
 * @param {NonNullable<CallBodies['request']>} request
 */
function drawRequest(id, { system, tools, messages }) {
  const characters = system.reduce((sum, text) => sum + text.length, 0);
  const before = messages.slice(0, -LAST_MESSAGES);
  return [
    system.length === 0
      ? null
      : lateFold(`${id} system`, `System prompt, ${counted(characters, 'character')}`, () =>
          system.map((text) => element('pre', { tabindex: 0 }, text)),
        ),
    tools.length === 0
      ? null
      : lateFold(`${id} tools`, `${counted(tools.length, 'tool')}: ${namesOf(tools)}`, () =>
          tools.map(({ name, definition }, index) =>
            lateFold(`${id} tool ${index}`, name, () => element('pre', { tabindex: 0 }, definition)),
          ),
        ),
    before.length === 0
      ? null
      : lateFold(`${id} before`, `${counted(before.length, 'message')} before`, () =>
          drawMessages(`${id} before`, before),
        ),
    drawMessages(`${id} last`, messages.slice(-LAST_MESSAGES)),
  ];
}

/** @param {readonly { name: string }[]} tools */
function namesOf(tools) {
  const names = tools.map(({ name }) => name).join(', ');
  return names.length > 200 ? `${names.slice(0, 200)} …` : names;
}

/**
 * @param {string} key
 * @param {readonly Message[]} messages
 */
function drawMessages(key, messages) {
  return element(
    'ol',
    { class: 'messages' },
    messages.map(({ role, parts }, index) =>
      element(
        'li',
        {},
        parts.map(({ kind, name, text }, part) => [
          element('span', { class: 'who' }, [kind === 'text' ? role : kind, name].filter(Boolean).join(' ')),
          folded(`${key} ${index} ${part}`, text),
        ]),
      ),
    ),
  );
}

/**
 * @param {string} key
 * @param {string} text
 */
function folded(key, text) {
  const whole = () => element('pre', { tabindex: 0 }, text);
  if (text.length <= SHORT && text.split('\n').length <= 14) return whole();
  const first = Array.from(text.slice(0, SHORT)).slice(0, 160).join('').split('\n').slice(0, 2).join(' ');
  return lateFold(key, element('span', { class: 'first' }, `${first} …`), whole);
}

/**
 * @param {CasePlace} place
 * @param {string} id
 * @param {'request' | 'reply'} which
 * @param {number | null} characters
 * @param {number} omitted
 */
function rawBody(place, id, which, characters, omitted) {
  const left = omitted > 0 ? `${bytes(omitted)} at its end were not kept. ` : '';
  if (characters === null) {
    return element('p', { class: 'note' }, left || `There is no ${which}.`);
  }
  const address = bodyAddress(place.run, place.case, id, which);
  return element(
    'div',
    { class: 'raw' },
    lateFold(`${id} ${which} raw`, `As it was sent, ${counted(characters, 'character')}`, () => {
      const pre = element('pre', { tabindex: 0 }, 'Loading …');
      askText(address).then(
        (text) => {
          const shown = text.slice(0, MOST_DRAWN);
          const rest = text.length - shown.length;
          pre.replaceChildren(...nodes([shown]));
          if (rest > 0) pre.after(element('p', { class: 'note' }, `${counted(rest, 'character')} left out.`));
        },
        () => pre.replaceChildren('The server does not answer.'),
      );
      return pre;
    }),
    element(
      'p',
      { class: 'note bytes' },
      left,
      element('a', { href: address, download: `${which}.txt` }, `Download the ${which}`),
    ),
  );
}
