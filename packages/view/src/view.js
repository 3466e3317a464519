import { parseAddress, runAddress } from './app/address.js';
import { listenToKeys, pageKeys, showKeys } from './app/keyboard.js';
import { listenTo } from './app/live.js';
import { AnswerError, askRuns, isFile, keepKey } from './app/server.js';
import { chooseTheme } from './app/theme.js';
import { casePage } from './case/case-page.js';
import { comparePage } from './compare/compare-page.js';
import { pairPage } from './compare/pair-page.js';
import { element, nodes } from './parts/element.js';
import { link } from './parts/parts.js';
import { visibleText } from './parts/visible-text.js';
import { showActivity } from './run/activity-panel.js';
import { runPage } from './run/run-page.js';
import { runsPage } from './runs/runs-page.js';
import { startPage } from './start/start-page.js';

/** @import { Address } from './app/address.js' */
/** @import { Live } from './app/live.js' */
/** @import { Page } from './app/page.js' */

const main = /** @type {HTMLElement} */ (document.getElementById('content'));
const status = /** @type {HTMLElement} */ (document.getElementById('status'));
const path = /** @type {HTMLElement} */ (document.getElementById('path'));

/** Counts the visited addresses, so that data of an earlier address is not drawn. */
let visit = 0;

/** What the shown page listens to. @type {Live | null} */
let live = null;

/** @param {Address} address */
function follow(address) {
  switch (address.page) {
    case 'runs':
      return show(runsPage());
    case 'run':
      return show(runPage(address.run, address.params));
    case 'case':
      return show(casePage(address.run, address.case, address.params));
    case 'start':
      return show(startPage());
    case 'compare':
      return show(comparePage(address.params));
    case 'pair':
      return show(pairPage(address.a, address.b));
    case 'unknown':
      return fail('The page has no such address.');
  }
}

/**
 * @template Data
 * @param {Page<Data>} page
 */
async function show(page) {
  const mine = leave();
  /** @type {Data | undefined} */
  let drawn;
  document.title = visibleText(`${page.title()} – Whetstone`);
  path.replaceChildren(...nodes([page.path()]));
  say('Loading …');
  while (mine === visit) {
    try {
      const data = await page.load();
      if (mine !== visit) return;
      if (data !== drawn) {
        pageKeys.clear();
        redraw(element('article', {}, page.draw(data, pageKeys)), drawn === undefined);
      }
      drawn = data;
      say('');
      if (isFile || !page.isLive(data)) return;
      live ??= listenTo(page.run ?? null, (activity) => {
        if (page.run !== undefined) showActivity(page.run, activity);
        return page.followsActivity ?? false;
      });
    } catch (error) {
      if (mine !== visit) return;
      const message = error instanceof AnswerError ? error.message : `This page cannot be drawn: ${error}`;
      if (drawn === undefined) return fail(message);
      say(message);
    }
    await live?.changed();
    if (live === null) return; // the first answer was an error, or the reader has left
  }
}

/** Leaves the shown page. Returns the number of the new visit. */
function leave() {
  visit++;
  live?.close();
  live = null;
  return visit;
}

/** @param {string} message */
function fail(message) {
  leave();
  pageKeys.clear();
  document.title = 'Nothing to show – Whetstone';
  path.replaceChildren(link('#/', 'Runs'), element('span', { 'aria-current': 'page' }, 'Nothing to show'));
  say('');
  redraw(
    element(
      'article',
      {},
      element('h1', {}, 'Nothing to show'),
      element('p', {}, message),
      element('p', {}, link('#/', 'All runs')),
    ),
    true,
  );
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
    // In the second frame, the first one is on the screen. For whoever measures the page.
    requestAnimationFrame(() => requestAnimationFrame(() => performance.mark('drawn')));
    scrollTo(0, 0);
    if (visit > 1) main.focus({ preventScroll: true }); // announces the new page to a screen reader
    return;
  }
  const open = new Map([...folds(main)].map((one) => [one.dataset.key, one.open]));
  for (const one of folds(article)) one.open = open.get(one.dataset.key) ?? one.open;
  const before = document.activeElement;
  const focused = before === null ? -1 : [...focusable(main)].indexOf(before);
  const scrolled = scrollY;
  main.replaceChildren(article);
  const after = focused < 0 ? undefined : [...focusable(main)][focused];
  if (after instanceof HTMLElement) after.focus({ preventScroll: true });
  if (after instanceof HTMLInputElement && before instanceof HTMLInputElement) {
    after.setSelectionRange(before.selectionStart, before.selectionEnd);
  }
  scrollTo(0, scrolled);
}

/** @param {HTMLElement} root */
const folds = (root) =>
  /** @type {NodeListOf<HTMLDetailsElement>} */ (root.querySelectorAll('details[data-key]'));

/** The heat map keeps its own focus, because it draws only a part of its links. @param {HTMLElement} root */
const focusable = (root) =>
  root.querySelectorAll(':is(a, button, input, select, summary, [tabindex]):not(.heat *)');

document.querySelector('.skip')?.addEventListener('click', (event) => {
  event.preventDefault(); // the hash is the page's address
  main.focus();
});
keepKey();
listenToKeys();
chooseTheme(/** @type {HTMLElement} */ (document.getElementById('theme')));
if (isFile) document.getElementById('docs')?.remove(); // the site needs a server
document.getElementById('keys')?.addEventListener('click', showKeys);
addEventListener('hashchange', () => follow(parseAddress(location.hash)));
if (isFile && location.hash === '') {
  const [run] = (await askRuns()).runs;
  if (run) location.replace(runAddress(run.id));
} else follow(parseAddress(location.hash));
