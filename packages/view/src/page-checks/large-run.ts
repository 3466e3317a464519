import { beforeAll, expect, test } from 'vitest';
import { writeLargeRun } from '../../../whetstone/src/view/__fixtures__/run-directories.ts';
import { type OpenedPage, runHash } from './opened-page.ts';

export function checkLargeRun(opened: () => OpenedPage): void {
  const id = '2026-04-04T00-00-00-large';
  const shape = { tasks: Array.from({ length: 1667 }, (_, index) => `task-${index}`), trials: 3 };
  const firstTask = () => opened().text('.heat-body [role=rowheader]');
  beforeAll(() => writeLargeRun(opened().folder, id, shape));

  test('draws the rows in the window only, wherever it is scrolled to', async () => {
    const { open, browser, count } = opened();
    await open(runHash(id));
    expect(await count('*')).toBeLessThan(2500);
    // Its agent took 14 s; the rest is the workspace and the clean room.
    expect(await opened().text('.tiles')).toContain('a case takes 40 s (median)');
    await browser.evaluate("document.querySelector('.heat').scrollTop = 1e9");
    await browser.until("document.querySelector('.heat-body').innerText.includes('task-1666')");
    expect(await count('*')).toBeLessThan(2500);
    expect(await browser.evaluate('document.querySelector(".heat-table").ariaRowCount')).toBe('1668');
  });

  test('finds, filters and sorts, keeps that in the address, and opens from such an address', async () => {
    const { open, browser, count, text } = opened();
    await open(runHash(id));
    expect(await text('.found')).toBe('1,667 tasks');
    await browser.press('/');
    for (const key of '-12') await browser.press(key);
    expect(await text('.found')).toBe('111 of 1,667 tasks');
    await browser.press('Escape');
    await browser.press('f');
    await browser.evaluate(
      "const sort = document.querySelector('select[name=sort]'); sort.value = 'loss'; sort.dispatchEvent(new Event('change'))",
    );
    const address = await browser.evaluate<string>('location.hash');
    expect(address).toContain('?q=-12&show=flipped&sort=loss');
    const before = [await text('.found'), await firstTask()];
    await open(address);
    expect([await text('.found'), await firstTask()]).toEqual(before);
    expect(await text('.heat-body .number')).toMatch(/^−/);

    await open(`${runHash(id)}?class=provider-outage`);
    // On a busy machine the page before is drawn once more.
    await browser.until("document.querySelector('select[name=class]')?.value === 'provider-outage'");
    expect(await count('.heat-body [role=row]:not(:has(.dot.error))')).toBe(0);
  });

  test('can be read without a mouse', async () => {
    const { open, browser, text } = opened();
    await open(runHash(id));
    for (const key of 'jjjlk') await browser.press(key);
    expect(await browser.evaluate('document.activeElement.closest("[role=row]").ariaRowIndex')).toBe('3');
    expect(await browser.evaluate('document.activeElement.ariaLabel')).toMatch(/^trial 2: /);
    await browser.press('Enter');
    await browser.until("location.hash.endsWith('/cases/case-0-1-0-2')");
    await browser.until("document.querySelector('main h1')?.innerText.includes('task-1')");
    await browser.press('u');
    await browser.until("document.querySelector('.heat')");
    await browser.press('?');
    expect(await text('dialog')).toMatch(/j\s+Next task/);
    await browser.press('Escape');
    // The browser reports that a dialog has closed in a task of its own, after the key is handled.
    await browser.until("!document.querySelector('dialog')");
  });
}
