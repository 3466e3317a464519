import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { expect, test } from 'vitest';
import { caseHash, type OpenedPage, pairHash, runHash } from './opened-page.ts';

/** One picture per state, colours and width. `npm run pictures:page` makes them anew; look at the difference of Git. */
const FOLDER = join(import.meta.dirname, '../__fixtures__/baselines');
const HEIGHT = 900;
const WIDTHS = [1280, 768, 360];
/** Letters differ by some pixels from machine to machine; a part of the page that is missing or moved differs by more. */
const MOST_DIFFERENT = 0.03;

/** Texts that are not the same in every run of the tests: the folder, and times in the zone of the machine. */
const steady = (folder: string) => `{
  for (const texts = document.createTreeWalker(document.body, 4); texts.nextNode(); )
    texts.currentNode.data = texts.currentNode.data.replaceAll(${JSON.stringify(folder)}, '~/runs');
  for (const time of document.querySelectorAll('time')) time.textContent = '2026-01-02 03:04:05';
  document.activeElement?.blur();
}`;

export function checkBaselines(opened: () => OpenedPage): void {
  const states = (id: string): Record<string, string> => ({
    run: runHash(id),
    case: caseHash(id, 'case-0-0-0-2'),
    compare: `#/compare?a=${id}&arm-a=baseline&b=${id}&arm-b=agents-md`,
    pair: pairHash(id, 'case-0-0-0-2', 'case-0-0-1-1'),
    start: '#/start',
    missing: '#/runs/none',
  });

  test.each(['light', 'dark'] as const)(
    'in %s every page looks as its picture does',
    async (scheme) => {
      const { browser, open, folder, sampleId } = opened();
      await browser.prefer(scheme);
      const different: string[] = [];
      for (const [state, hash] of Object.entries(states(sampleId))) {
        await open(hash);
        if (state === 'start') await browser.until("document.querySelector('.findings > *')");
        if (state === 'case') await browser.until("document.querySelector('.patch .s-keyword')");
        await browser.evaluate('document.fonts.ready.then(() => 0)');
        await browser.evaluate(steady(folder));
        for (const width of WIDTHS) {
          await browser.resize(width, HEIGHT);
          const name = `${state}-${scheme}-${width}.png`;
          const share = differenceOf(name, await browser.picture());
          if (share > MOST_DIFFERENT) different.push(`${name}: ${(100 * share).toFixed(1)} % of the pixels`);
        }
      }
      browser.takeProblems(); // the run that does not exist
      expect(different, `The new pictures are in ${join(tmpdir(), 'page-pictures')}`).toEqual([]);
    },
    240_000,
  );
}

/** The share of pixels in which a picture differs from its baseline; 1 where their sizes differ. */
function differenceOf(name: string, picture: Buffer): number {
  const file = join(FOLDER, name);
  if (process.env.UPDATE_PICTURES === '1') {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(file, picture);
    return 0;
  }
  const [now, before] = [
    PNG.sync.read(picture),
    existsSync(file) ? PNG.sync.read(readFileSync(file)) : undefined,
  ];
  const isSameSize = before?.width === now.width && before.height === now.height;
  const { width, height } = now;
  const share = isSameSize
    ? pixelmatch(before.data, now.data, undefined, width, height, { threshold: 0.2 }) / (width * height)
    : 1;
  if (share > MOST_DIFFERENT) {
    mkdirSync(join(tmpdir(), 'page-pictures'), { recursive: true });
    writeFileSync(join(tmpdir(), 'page-pictures', name), picture);
  }
  return share;
}
