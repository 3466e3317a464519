import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { loadRunDirectory } from '../../../whetstone/src/view/load-runs.ts';
import { oneFilePage } from '../../../whetstone/src/view/one-file.ts';
import { serveRuns } from '../../../whetstone/src/view/server.ts';
import type { OpenedPage } from './opened-page.ts';
import { differentPictures } from './pictures.ts';

/** What the page looks like in states that no address leads to. */
export function checkFurtherStates(opened: () => OpenedPage): void {
  test('the list of keys looks as its pictures do', async () => {
    const { browser, open, folder } = opened();
    await open('');
    await browser.press('?');
    await browser.until("document.querySelector('dialog[open]')");
    expect(await differentPictures('keys', browser, { [folder]: '~/runs' })).toEqual([]);
    await browser.press('Escape');
    await browser.until("!document.querySelector('dialog[open]')");
  });

  test('a folder without runs looks as its pictures do', async () => {
    const { browser, open, folder } = opened();
    const outputDirectory = join(folder, 'empty', 'runs');
    await mkdir(outputDirectory, { recursive: true });
    const server = await serveRuns({ outputDirectory });
    try {
      await open('', server.url);
      expect(await differentPictures('empty', browser, { [join(folder, 'empty')]: '~' })).toEqual([]);
    } finally {
      await server.close();
    }
  });

  test('a report in one file looks as its pictures do', async () => {
    const { browser, open, folder, sampleId } = opened();
    const file = join(folder, 'report.html');
    await writeFile(file, oneFilePage(await loadRunDirectory(join(folder, sampleId))));
    await open('', pathToFileURL(file).href);
    await browser.until("document.querySelector('.verdict.better')");
    await browser.evaluate('document.fonts.ready.then(() => 0)');
    expect(await differentPictures('one-file', browser, { [folder]: '~/runs' })).toEqual([]);
  });

  test('the passed trials of two categories of tasks are on the page of a run', async () => {
    const { open, text, browser, folder, sampleId } = opened();
    const loaded = await loadRunDirectory(join(folder, sampleId));
    const { summary } = loaded.detail;
    expect(summary.categories).toEqual([]);
    const counts = { passed: 1, failed: 2, error: 3, skipped: 0, not_run: 0, missing: 4 };
    const cells = ['issue', null].map((category) => ({ agent: 'amy', category, variant: 'with', ...counts }));
    const detail = { ...loaded.detail, summary: { ...summary, categories: cells } };
    const file = join(folder, 'categories.html');
    await writeFile(file, oneFilePage({ ...loaded, detail }));
    await open('', pathToFileURL(file).href);
    await browser.until('document.querySelector(\'[aria-label="Categories"]\')');
    const rows = (await text('[aria-label="Categories"] tbody')).split('\n');
    expect(rows.map((row) => row.split(/\s+/))).toEqual([
      ['issue', 'with', 'amy', '1/3', '7'],
      ['–', 'with', 'amy', '1/3', '7'],
    ]);
  });
}
