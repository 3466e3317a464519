import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HOSTILE_RUN_ID } from '../../../whetstone/src/view/__fixtures__/run-directories.ts';
import { caseHash, type OpenedPage, pairHash, runHash } from './opened-page.ts';
import { differentPictures, HEIGHT } from './pictures.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const ANY_WIDTHS = [4000, 1400, 320, 40];

type Look = {
  name: string;
  hash: (sampleId: string) => string;
  /** What is true when all of it is drawn. */
  drawn?: string;
};

const PAGES: Look[] = [
  { name: 'runs', hash: () => '' },
  { name: 'run', hash: runHash },
  {
    name: 'case',
    hash: (id) => caseHash(id, 'case-0-0-0-2'),
    drawn: "document.querySelector('.patch .s-keyword')",
  },
  {
    name: 'compare',
    hash: (id) => `#/compare?a=${id}&arm-a=baseline&b=${id}&arm-b=agents-md`,
  },
  { name: 'pair', hash: (id) => pairHash(id, 'case-0-0-0-2', 'case-0-0-1-1') },
  { name: 'start', hash: () => '#/start', drawn: "document.querySelector('.findings > :not(.note)')" },
  { name: 'missing', hash: () => '#/runs/none' },
  { name: 'choice', hash: () => '#/compare' },
  { name: 'hostile-run', hash: () => runHash(HOSTILE_RUN_ID) },
  { name: 'hostile-case', hash: () => caseHash(HOSTILE_RUN_ID, 'case-0-0-1-1') },
];

/** Each page is loaded once, and looked at in every way. */
export function checkEveryPage(opened: () => OpenedPage): void {
  test.each(PAGES)(
    'the $name page looks as its pictures do, fits any window, and axe finds no violation',
    async ({ name, hash, drawn }) => {
      const { browser, open, folder, sampleId } = opened();
      await open(hash(sampleId));
      if (drawn) await browser.until(drawn);
      await browser.evaluate('document.fonts.ready.then(() => 0)');
      const different = await differentPictures(name, browser, { [folder]: '~/runs' });
      expect(different, `The new pictures are in ${join(tmpdir(), 'page-pictures')}`).toEqual([]);

      for (const width of ANY_WIDTHS) {
        await browser.resize(width, HEIGHT);
        const overflow = await browser.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        expect(overflow, `at ${width}`).toBeLessThanOrEqual(0);
      }

      await browser.evaluate(`${axe}; 0`);
      for (const [scheme, width] of [
        ['dark', 40],
        ['light', 1400],
      ] as const) {
        await browser.prefer(scheme);
        await browser.resize(width, HEIGHT);
        const found = await browser.evaluate<{ id: string; nodes: string[] }[]>(
          `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map((one) => one.html.slice(0, 200)) })))`,
        );
        expect(found, `${scheme}, ${width}`).toEqual([]);
      }
      browser.takeProblems(); // the run that does not exist
    },
    120_000,
  );
}
