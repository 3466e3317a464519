import { parseAddress } from './address.js';
import { casePage } from './case-page.js';
import { element } from './element.js';
import { runPage } from './run-page.js';
import { runsPage } from './runs-page.js';
import { AnswerError } from './server.js';
import { visibleText } from './visible-text.js';

/** @import { Address } from './address.js' */
/** @import { Page } from './page.js' */

const REFRESH_MS = 2000;

const main = /** @type {HTMLElement} */ (document.getElementById('content'));
const status = /** @type {HTMLElement} */ (document.getElementById('status'));

/** Counts the visited addresses, so that data of an earlier address is not drawn. */
let visit = 0;

/** @param {Address} address */
function follow(address) {
  switch (address.page) {
    case 'runs':
      return show(runsPage());
    case 'run':
      return show(runPage(address.run));
    case 'case':
      return show(casePage(address.run, address.case));
    case 'unknown':
      return fail('There is no such page.');
  }
}

/**
 * @template Data
 * @param {Page<Data>} page
 */
async function show(page) {
  const mine = ++visit;
  /** @type {Data | undefined} */
  let drawn;
  document.title = visibleText(`${page.title()} – Whetstone`);
  say('Loading …');
  while (mine === visit) {
    try {
      const data = await page.load();
      if (mine !== visit) return;
      if (data !== drawn) redraw(element('article', {}, page.draw(data)), drawn === undefined);
      drawn = data;
      say('');
      if (!page.isLive(data)) return;
    } catch (error) {
      if (mine !== visit) return;
      const message = error instanceof AnswerError ? error.message : `This page cannot be drawn: ${error}`;
      if (drawn === undefined) return fail(message);
      say(message);
    }
    await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
  }
}

/** @param {string} message */
function fail(message) {
  visit++;
  say('');
  redraw(element('article', {}, element('h1', {}, 'Nothing to show'), element('p', {}, message)), true);
}

/** @param {string} message */
function say(message) {
  if (status.textContent !== visibleText(message)) status.textContent = visibleText(message);
}

/**
 * Replaces the content. On the same page, folds, focus and scroll position stay as they were.
 * @param {HTMLElement} article
 * @param {boolean} isNewPage
 */
function redraw(article, isNewPage) {
  if (isNewPage) {
    main.replaceChildren(article);
    scrollTo(0, 0);
    if (visit > 1) main.focus({ preventScroll: true }); // announces the new page to a screen reader
    return;
  }
  const open = new Map([...folds(main)].map((one) => [one.dataset.key, one.open]));
  for (const one of folds(article)) one.open = open.get(one.dataset.key) ?? one.open;
  const focused = /** @type {(Element | null)[]} */ ([...focusable(main)]).indexOf(document.activeElement);
  const scrolled = scrollY;
  main.replaceChildren(article);
  if (focused >= 0) [...focusable(main)][focused]?.focus({ preventScroll: true });
  scrollTo(0, scrolled);
}

/** @param {HTMLElement} root */
const folds = (root) =>
  /** @type {NodeListOf<HTMLDetailsElement>} */ (root.querySelectorAll('details[data-key]'));

/** @param {HTMLElement} root */
const focusable = (root) =>
  /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll('a, summary, [tabindex]'));

document.querySelector('.skip')?.addEventListener('click', (event) => {
  event.preventDefault(); // the hash is the page's address
  main.focus();
});
addEventListener('hashchange', () => follow(parseAddress(location.hash)));
follow(parseAddress(location.hash));
