import { appendFile, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { caseLayout, runLayout } from '../../whetstone/src/record/layout.ts';
import {
  HOSTILE_RUN_ID,
  startSampleRun,
  writeCaseFile,
  writeHostileRun,
  writeSampleRun,
} from '../../whetstone/src/view/__fixtures__/run-directories.ts';
import { loadRunDirectory } from '../../whetstone/src/view/load-runs.ts';
import { oneFilePage } from '../../whetstone/src/view/one-file.ts';
import { serveRuns, type ViewServer } from '../../whetstone/src/view/server.ts';
import { type Browser, chromiumPath, openBrowser } from './__fixtures__/browser.ts';
import { checkCalls } from './page-checks/calls.ts';
import { checkComparePages } from './page-checks/compare.ts';
import { checkEveryPage } from './page-checks/every-page.ts';
import { checkFurtherStates } from './page-checks/further-states.ts';
import { checkLargeRun } from './page-checks/large-run.ts';
import { caseHash, runHash } from './page-checks/opened-page.ts';
import { checkQuestions } from './page-checks/questions.ts';
import { checkWorkbench } from './page-checks/workbench.ts';

describe.skipIf(chromiumPath === undefined)('the page', { tags: 'chromium' }, () => {
  let folder: string;
  let sampleId: string;
  let server: ViewServer;
  let browser: Browser;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'page-'));
    sampleId = await writeSampleRun(folder);
    await writeHostileRun(folder);
    const config = join(folder, 'whetstone.yaml');
    await writeFile(config, 'agents: {}\n');
    server = await serveRuns({ outputDirectory: folder, config });
    browser = await openBrowser(chromiumPath ?? '');
    await browser.goto(server.url); // exchanges the key for a cookie
  }, 60_000);
  afterAll(async () => {
    await server?.close();
    await browser?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    await browser.resize(1400, 900);
    await browser.prefer('light');
    // What the page of the test before still asks for may fail, because that test has ended its server.
    await browser.leave();
    browser.takeProblems();
    loaded = undefined;
  });

  /** Where the tab is. Each test begins with a page that is loaded; from there it goes on like a reader. */
  let loaded: string | undefined;

  /** Opens a page by its hash and waits until it is drawn. */
  async function open(hash: string, url = server.url): Promise<void> {
    const isOther = await browser.evaluate(`location.hash !== ${JSON.stringify(hash)}`);
    if (loaded === url && isOther && hash !== '') {
      await browser.evaluate(
        `document.querySelector('main article').id = 'before'; location.hash = ${JSON.stringify(hash)}; 0`,
      );
      await browser.until("document.querySelector('main article:not(#before)')");
      return;
    }
    await browser.goto(`${url}${hash}`);
    await browser.until("document.querySelector('main article')");
    loaded = url;
  }

  const count = (selector: string) =>
    browser.evaluate<number>(`document.querySelectorAll(${JSON.stringify(selector)}).length`);
  const text = (selector = 'main') =>
    browser.evaluate<string>(`document.querySelector(${JSON.stringify(selector)}).innerText`);
  const click = (selector: string) =>
    browser.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);

  // First, before other tests change the sample.
  describe('in every way', () =>
    checkEveryPage(() => ({ browser, folder, sampleId, open, count, text, click })));

  describe('in further states', () =>
    checkFurtherStates(() => ({ browser, folder, sampleId, open, count, text, click })));

  describe('compares', () =>
    checkComparePages(() => ({ browser, folder, sampleId, open, count, text, click })));

  describe('shows model calls', () =>
    checkCalls(() => ({ browser, folder, sampleId, open, count, text, click })));

  describe('answers', () => checkQuestions(() => ({ browser, folder, sampleId, open, count, text, click })));

  describe('works', () => checkWorkbench(() => ({ browser, folder, sampleId, open, count, text, click })));

  test('lists the runs, and removes the key from the address', async () => {
    await open('');
    expect(await browser.evaluate<string>('location.search')).toBe('');
    expect(await browser.evaluate<string>('document.title')).toBe('Runs – Whetstone');
    expect(await count('tbody tr')).toBe(2);
    expect(await text('tbody tr:last-child')).toContain('34 of 56 passed');
    await browser.press('j');
    expect(await browser.evaluate('document.activeElement.hash.startsWith("#/runs/2026-02-02")')).toBe(true);
    expect(browser.takeProblems()).toEqual([]);
  });

  test('shows a run: rates with intervals, verdicts, every trial, failures and caveats', async () => {
    await open(runHash(sampleId));
    const shown = await text();
    for (const part of [
      'Against baseline: better: agents-md (loop); inconclusive: agents-md (codex), agents-md (all agents).',
      '93 % [60, 99]',
      '+34 … +100 pp',
      'Isolation level 0 (process)',
      '0123456789abcdef0123456789abcdef01234567',
      'The model answered 503 three times.',
    ]) {
      expect(shown).toContain(part);
    }
    expect(await count('.verdict.better')).toBe(1);
    expect(await count('.verdict.inconclusive')).toBe(2);
    expect(await count('svg.range .interval')).toBe(4);
    expect(await count('.interval-plot .interval')).toBe(3);
    expect(await text('.verdict.better h2')).toBe('agents-md is better than baseline');
    expect(await text('.verdict.inconclusive .settles')).toMatch(/to settle 10 pp: about \d+ tasks/);
    expect(await count('a.dot.passed')).toBe(34);
    expect(await count('a.dot.failed')).toBe(20);
    expect(await count('a.dot.error')).toBe(1);
    expect(await count('a.dot.missing')).toBe(1);
    expect(browser.takeProblems()).toEqual([]);
  });

  test('shows a case: its evidence, the patch by line, what the agent did, each model call', async () => {
    await open(caseHash(sampleId, 'case-0-0-0-2'));
    expect(await text('.evidence')).toContain('`npm test` exited with 1.');
    expect(await text('details[data-key="validation 0"][open] pre')).toContain('expected 2 to be 3');
    expect(await count('.patch ins')).toBe(4);
    expect(await count('.patch del')).toBe(2);
    expect(await text('.patch del')).toBe('--- an old comment that looks like a header');
    expect(await text()).toContain('"verdict": "good"');
    await browser.until("document.querySelector('.patch .s-keyword')");
    expect(await text('.patch ins')).toBe("+  const rows = text.split('\\n');");
    expect(await browser.evaluate("document.querySelector('.patch ins').dataset.now")).toBe('2');
    expect(await text('.why .failing')).toContain('parses: expected 2 to be 3');
    expect(await text('.why figcaption')).toBe('src/parser.js:2');
    expect(await text('.why .here')).toContain("const rows = text.split('\\n');");
    await browser.evaluate('document.querySelector(\'details[data-key="whole 0"]\').open = true');
    await browser.until(
      "document.querySelector('details[data-key=\"whole 0\"]').innerText.includes('cannot be shown')",
    );
    expect(await count('.transcript li')).toBe(8);
    expect(await text('.transcript li.bad')).toContain('1 failing');
    expect(await count('[aria-label="Calls over time"] tbody tr')).toBe(5);
    expect(await count('.when.model')).toBe(3);
    expect(await text('.same-task [aria-current]')).toBe('');
    expect(await count('.same-task a')).toBe(8);
    await browser.press('n');
    await browser.until(
      "location.hash.endsWith('case-0-0-1-1') && document.querySelector('h1')?.innerText.includes('agents-md')",
    );
    await browser.press('p');
    await browser.until(
      "location.hash.endsWith('case-0-0-0-2') && document.querySelector('h1')?.innerText.includes('baseline')",
    );
    expect(await text('main > article > section:last-child dl')).toMatch(
      /Waited\s+2\.5 s of that for its provider/,
    );
    expect(await text('main > article > section:last-child dl')).toMatch(
      /Judge\s+3 model calls, 1\.2K tokens, – besides, judge-1/,
    );
    expect(await text('main > article > section:last-child dl')).toMatch(
      /Signed in\s+with the login of the user/,
    );
    const files = await text('[aria-label="Instruction files"] tbody');
    expect(files.split(/\s+/)).toEqual(['CLAUDE.md', 'whole', 'AGENTS.md', 'no']);
    const seen = await text('[aria-label="What the agent saw of its variant"] tbody');
    expect(seen).toMatch(/Skill brew-tea\s+yes\s+yes\s+event 4\s+300/);
    expect(seen).toMatch(/MCP server unasked\s+no\s+0 calls/);
    expect(seen).toMatch(/Plugin tea-house\s+yes/);
    expect(seen).toMatch(/Skill tea-house:brew-tea\s+yes\s+asked for, not got/);
    expect(browser.takeProblems()).toEqual([]);
  });

  test('can be used by keyboard, and announces a new page', async () => {
    await open(runHash(sampleId));
    await browser.evaluate("document.querySelector('a.dot.failed').focus()");
    await browser.press('Enter');
    await browser.until("location.hash.includes('/cases/') && document.activeElement.tagName === 'MAIN'");
    expect(await text('h1')).toContain('fix-parser · baseline');
    expect(await browser.evaluate<string>('document.title')).toContain('case-0-0-0-2');
    expect(browser.takeProblems()).toEqual([]);
  });

  test('offers a link that skips to the content', async () => {
    await open('');
    await browser.press('Tab');
    expect(
      await browser.evaluate<number>("document.querySelector('.skip:focus').getBoundingClientRect().left"),
    ).toBeGreaterThanOrEqual(0);
    await browser.press('Enter');
    expect(await browser.evaluate<string>('document.activeElement.tagName')).toBe('MAIN');
    expect(await text('h1')).toBe('Runs');
  });

  test.each([
    ['runs', ''],
    ['run', runHash(HOSTILE_RUN_ID)],
    ['case', caseHash(HOSTILE_RUN_ID, 'case-0-0-1-1')],
  ])(
    'on the %s page hostile texts are texts: nothing runs, nothing is loaded, nothing is hidden',
    async (_, hash) => {
      await open(hash);
      expect(await browser.evaluate('typeof globalThis.pwned')).toBe('undefined');
      expect(await count('main :is(img, script, iframe, style, link, form, base)')).toBe(0);
      expect(await text()).toContain('<script>globalThis.pwned=1</script>');
      expect(await text()).toContain('⟨U+202E⟩');
      expect(await text()).not.toMatch(/(?![\n\t])\p{Cc}|\p{Bidi_Control}/u);
      expect(browser.takeProblems()).toEqual([]);
    },
  );

  test('draws a bounded part of a huge file, such as a log of 200 MB', async () => {
    const patch = `diff --git a/x b/x\n@@ -0,0 +1,900000 @@\n${'+\n'.repeat(600_000)}`;
    await writeCaseFile(folder, sampleId, 'case-0-0-0-1', 'patch', patch);
    await writeCaseFile(folder, sampleId, 'case-0-0-0-1', 'events', '{"type":"x"}\n'.repeat(200_000));
    await writeCaseFile(folder, sampleId, 'case-0-0-0-1', 'stdout', '');
    const log = caseLayout(runLayout(join(folder, sampleId)).case('case-0-0-0-1')).stdout;
    await truncate(log, 200 * 2 ** 20); // its first part takes no room on the disk
    await appendFile(log, `${'x'.repeat(3 * 2 ** 20)}END`);
    await open(caseHash(sampleId, 'case-0-0-0-1'));
    expect(await count('*')).toBeLessThan(20_000);
    const shown = await text();
    expect(shown).toContain('left out at the end');
    expect(shown).toContain('left out at the beginning');
    expect(shown).toContain('events in the middle are left out');
    expect(shown).toContain('xxxEND');
    await browser.evaluate(
      "[...document.querySelectorAll('button')].find((one) => one.innerText.includes('before this')).click()",
    );
    await browser.until("document.body.innerText.includes('201.8 MiB left')");
    expect(
      await browser.evaluate(
        "[...document.querySelectorAll('pre.log')].find((one) => one.textContent.endsWith('END')).textContent.length",
      ),
    ).toBe(1.25 * 2 ** 20);
  });

  test('updates while a run continues, and keeps folds and focus', async () => {
    const id = '2026-03-03T00-00-00-live';
    const { record, rows } = await startSampleRun(folder, id);
    const finish = async (wanted: string) => {
      const row = rows.find((one) => one.outcome === wanted && !record.rows.has(one.case_id));
      if (row === undefined) throw new Error(`The sample has no more rows that are ${wanted}.`);
      await record.startCase(row.case_id);
      await record.finishCase(row);
    };
    await finish('failed');
    const own = await serveRuns({ outputDirectory: folder });
    await open(runHash(id), own.url);
    expect(await browser.evaluate<number>("document.querySelector('progress').value")).toBe(1);
    await browser.evaluate("document.querySelector('details[data-key=parts]').open = true");
    await browser.press('/');
    for (const key of 'pars') await browser.press(key);
    await finish('passed');
    await browser.until("document.querySelector('progress').value === 2");
    expect(await count('details[data-key=parts][open] tbody tr')).toBeGreaterThan(3);
    await browser.press('e');
    expect(await browser.evaluate<string>('document.activeElement.value')).toBe('parse');

    await own.close();
    await browser.until("document.querySelector('#status').innerText.includes('does not answer')");
    expect(await count('main article h1')).toBe(1);
    await browser.goto(server.url); // the page asks its closed server no more
    await record[Symbol.asyncDispose]();
    await rm(join(folder, id), { recursive: true });
  });

  describe('as one file', () => {
    const fileOf = async (id: string) => {
      const file = join(folder, `${id.slice(0, 10)}.html`);
      await writeFile(file, oneFilePage(await loadRunDirectory(join(folder, id))));
      return pathToFileURL(file).href;
    };

    test('opens from the disk, with the verdict and every case, and asks for nothing', async () => {
      const file = await fileOf(sampleId);
      await open('', file);
      await browser.until("document.querySelector('.verdict.better')");
      expect(await browser.evaluate('location.hash')).toBe(runHash(sampleId));
      expect(await count('a.dot.passed')).toBe(34);
      await browser.evaluate("document.querySelector('a.dot.failed').click()");
      await browser.until("document.querySelector('.patch .s-keyword')");
      expect(await text('p.evidence')).toContain('`npm test` exited with 1.');
      expect(await count('.transcript li')).toBe(8);
      expect(await count('a[download]')).toBe(0);
      expect(await browser.evaluate("document.fonts.check('14px Inter')")).toBe(true);
      const asked =
        "performance.getEntriesByType('resource').filter(({ name }) => !name.startsWith('data:')).length";
      expect(await browser.evaluate(asked)).toBe(0);
      expect(browser.takeProblems()).toEqual([]);
    });

    test('hostile texts are texts there, too', async () => {
      await open(caseHash(HOSTILE_RUN_ID, 'case-0-0-1-1'), await fileOf(HOSTILE_RUN_ID));
      await browser.until("document.querySelector('.transcript')");
      expect(await browser.evaluate('typeof globalThis.pwned')).toBe('undefined');
      expect(await text()).toContain('<script>globalThis.pwned=1</script>');
      expect(browser.takeProblems()).toEqual([]);
    });
  });

  test('an address that leads nowhere says that there is no such page', async () => {
    for (const hash of ['#/runs/none', '#/nonsense', '#/runs/%', '#/runs/a/b/c']) {
      await open(hash);
      expect(await text('h1'), hash).toBe('Nothing to show');
      expect(await count('main a[href="#/"]'), hash).toBe(1);
    }
    browser.takeProblems();
  });

  describe('with 10,000 cases', () =>
    checkLargeRun(() => ({ browser, folder, sampleId, open, count, text, click })));
});
