import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import type { OpenedPage } from './opened-page.ts';

type Browser = OpenedPage['browser'];

/** One picture per state, colours and width. `npm run pictures:page` makes them anew; look at the difference of Git. */
const FOLDER = join(import.meta.dirname, '../__fixtures__/baselines');
/** Letters differ by some pixels from machine to machine; a part of the page that is missing or moved differs by more. */
const MOST_DIFFERENT = 0.03;

/** The share of pixels in which a picture differs from its baseline; 1 where their sizes differ. */
function pictureDifference(name: string, picture: Buffer): number {
  const file = join(FOLDER, name);
  if (process.env.UPDATE_PICTURES === '1') {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(file, picture);
    return 0;
  }
  const kept = existsSync(file) ? readFileSync(file) : undefined;
  if (kept?.equals(picture)) return 0;
  const [now, before] = [PNG.sync.read(picture), kept && PNG.sync.read(kept)];
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

/** Of the window, in pixels. */
export const HEIGHT = 900;
const WIDTHS = [1280, 768, 360] as const;

/** Puts other texts in place of those that are not the same in every run of the tests, and of times in the zone of the machine. */
const steady = (instead: Record<string, string>) => `{
  for (const texts = document.createTreeWalker(document.body, 4); texts.nextNode(); )
    for (const [text, other] of Object.entries(${JSON.stringify(instead)}))
      texts.currentNode.data = texts.currentNode.data.replaceAll(text, other);
  for (const time of document.querySelectorAll('time')) time.textContent = '2026-01-02 03:04:05';
  document.activeElement?.blur();
}`;

/** Looks at the page as it is now in light and dark and three widths, and names the pictures that differ. */
export async function differentPictures(
  name: string,
  browser: Browser,
  instead: Record<string, string>,
): Promise<string[]> {
  const different: string[] = [];
  await browser.evaluate(steady(instead));
  for (const width of WIDTHS) {
    await browser.resize(width, HEIGHT);
    for (const scheme of ['light', 'dark'] as const) {
      await browser.prefer(scheme);
      const file = `${name}-${scheme}-${width}.png`;
      const share = pictureDifference(file, await browser.picture());
      if (share > MOST_DIFFERENT) different.push(`${file}: ${(100 * share).toFixed(1)} % of the pixels`);
    }
  }
  await browser.resize(WIDTHS[0], HEIGHT);
  return different;
}
