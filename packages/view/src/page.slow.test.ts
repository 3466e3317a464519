import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  HOSTILE_RUN_ID,
  startSampleRun,
  writeCaseFile,
  writeHostileRun,
  writeSampleRun,
} from '../../whetstone/src/view/__fixtures__/run-directories.ts';
import { serveRuns, type ViewServer } from '../../whetstone/src/view/server.ts';
import { type Browser, chromiumPath, openBrowser } from './__fixtures__/browser.ts';

const { lowContrast }: { lowContrast: () => string[] } = await import(
  new URL('./__fixtures__/low-contrast.js', import.meta.url).href
);

describe.skipIf(chromiumPath === undefined)('the page', { tags: 'chromium' }, () => {
  let folder: string;
  let sampleId: string;
  let server: ViewServer;
  let browser: Browser;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'page-'));
    sampleId = await writeSampleRun(folder);
    await writeHostileRun(folder);
    browser = await openBrowser(chromiumPath ?? '');
  }, 60_000);
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    server = await serveRuns({ outputDirectory: folder });
    await browser.resize(1400, 900);
    await browser.prefer('light');
    browser.takeProblems();
  });
  afterEach(() => server.close());

  /** Opens a page by its hash and waits until it is drawn. */
  async function open(hash: string): Promise<void> {
    await browser.goto(server.url + hash);
    await browser.until("document.querySelector('main article')");
  }

  const runHash = (id: string) => `#/runs/${encodeURIComponent(id)}`;
  const caseHash = (id: string, caseId: string) => `${runHash(id)}/cases/${caseId}`;
  const count = (selector: string) =>
    browser.evaluate<number>(`document.querySelectorAll(${JSON.stringify(selector)}).length`);
  const text = (selector = 'main') =>
    browser.evaluate<string>(`document.querySelector(${JSON.stringify(selector)}).innerText`);

  test('lists the runs, and removes the key from the address', async () => {
    await open('');
    expect(await browser.evaluate<string>('location.search')).toBe('');
    expect(await browser.evaluate<string>('document.title')).toBe('Runs – Whetstone');
    expect(await count('tbody tr')).toBe(2);
    expect(await text('tbody tr:last-child')).toContain('34 of 56 passed');
    expect(browser.takeProblems()).toEqual([]);
  });

  test('shows a run: rates with intervals, verdicts, every trial, failures and caveats', async () => {
    await open(runHash(sampleId));
    const shown = await text();
    for (const part of [
      'Against baseline: better: agents-md (loop); inconclusive: agents-md (codex).',
      '93 % [60, 99]',
      '+32 … +100 pp',
      'Isolation level 0 (process)',
      '0123456789abcdef0123456789abcdef01234567',
      'The model answered 503 three times.',
    ]) {
      expect(shown).toContain(part);
    }
    expect(await count('.badge.better')).toBe(1);
    expect(await count('.badge.inconclusive')).toBe(1);
    expect(await count('svg.range .interval')).toBe(6);
    expect(await count('a.mark.passed')).toBe(34);
    expect(await count('a.mark.failed')).toBe(20);
    expect(await count('a.mark.error')).toBe(1);
    expect(await count('a.mark.missing')).toBe(1);
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
    expect(await count('.timeline li')).toBe(10);
    expect(await text('.timeline li.bad')).toContain('1 failing');
    expect(await count('[aria-label="Model calls"] tbody tr')).toBe(3);
    expect(await text('dl')).toMatch(/Waited\s+2\.5 s of that for its provider/);
    expect(await text('dl')).toMatch(/Judge\s+3 model calls, 1\.2K tokens, – besides, judge-1/);
    expect(await text('dl')).toMatch(/Signed in\s+with the login of the user/);
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
    await browser.evaluate("document.querySelector('a.mark.failed').focus()");
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

  test('draws a bounded part of a huge file', async () => {
    const patch = `diff --git a/x b/x\n@@ -0,0 +1,900000 @@\n${'+\n'.repeat(600_000)}`;
    await writeCaseFile(folder, sampleId, 'case-0-0-0-1', 'patch', patch);
    await writeCaseFile(folder, sampleId, 'case-0-0-0-1', 'events', '{"type":"x"}\n'.repeat(200_000));
    await writeCaseFile(folder, sampleId, 'case-0-0-0-1', 'stdout', `${'x'.repeat(3 * 2 ** 20)}END`);
    await open(caseHash(sampleId, 'case-0-0-0-1'));
    expect(await count('*')).toBeLessThan(20_000);
    const shown = await text();
    expect(shown).toContain('left out at the end');
    expect(shown).toContain('left out at the beginning');
    expect(shown).toContain('events in the middle are left out');
    expect(shown).toContain('xxxEND');
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
    await open(runHash(id));
    expect(await browser.evaluate<number>("document.querySelector('progress').value")).toBe(1);
    await browser.evaluate('document.querySelector(\'details[data-key="failures agent"]\').open = false');
    await browser.evaluate('document.querySelector(\'details[data-key="failures agent"] summary\').focus()');
    await finish('passed');
    await browser.until("document.querySelector('progress').value === 2");
    expect(await count('details[data-key="failures agent"][open]')).toBe(0);
    expect(await browser.evaluate<string>('document.activeElement.innerText')).toContain(
      "Agent's work failed 1 case",
    );

    await server.close();
    await browser.until("document.querySelector('#status').innerText.includes('does not answer')");
    expect(await count('main article h1')).toBe(1);
    await record[Symbol.asyncDispose]();
    await rm(join(folder, id), { recursive: true });
  });

  test.each(['#/runs/none', '#/nonsense', '#/runs/%', '#/runs/a/b/c'])(
    '%s shows that there is no such page',
    async (hash) => {
      await open(hash);
      expect(await text('h1')).toBe('Nothing to show');
      browser.takeProblems();
    },
  );

  test.each(['light', 'dark'] as const)(
    'in %s it fits wide and narrow windows, can be read, and is marked up for those who do not see it',
    async (scheme) => {
      await browser.prefer(scheme);
      for (const hash of [
        '',
        runHash(sampleId),
        runHash(HOSTILE_RUN_ID),
        caseHash(HOSTILE_RUN_ID, 'case-0-0-1-1'),
      ]) {
        await open(hash);
        for (const width of [1400, 400]) {
          await browser.resize(width, 900);
          const overflow = await browser.evaluate<number>(
            'document.documentElement.scrollWidth - innerWidth',
          );
          expect(overflow, `${hash} at ${width}`).toBeLessThanOrEqual(0);
        }
        expect(await browser.evaluate(`(${lowContrast})()`), hash).toEqual([]);
        expect(await count('h1')).toBe(1);
        expect(await count('th:not([scope]), svg:not([aria-label]), a:not([href])')).toBe(0);
      }
    },
  );
});
