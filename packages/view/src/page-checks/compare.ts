import { expect, test } from 'vitest';
import { HOSTILE_RUN_ID } from '../../../whetstone/src/view/__fixtures__/run-directories.ts';
import { type OpenedPage, pairHash, runHash } from './opened-page.ts';

export function checkComparePages(opened: () => OpenedPage): void {
  test('a verdict leads to the whole comparison, and a flip to two cases side by side', async () => {
    const { open, click, browser, text, count, sampleId } = opened();
    await open(runHash(sampleId));
    await click('.verdict .more');
    await browser.until("document.querySelector('.picker')");
    expect(await browser.evaluate('location.hash')).toBe(
      `#/compare?a=${sampleId}&arm-a=loop%2Fbaseline&b=${sampleId}&arm-b=loop%2Fagents-md`,
    );
    expect(await text('.verdict h2')).toBe('agents-md is better than baseline');
    expect(await count('.interval-plot .interval')).toBe(1);
    expect(await text('.problem')).toContain('Exploratory');
    expect(await count('[aria-label="Both sides"] svg.range')).toBe(2);
    expect(await text('[aria-label="Flipped tasks"] tbody tr')).toContain('pp');
    await browser.press('x');
    await browser.until("document.querySelector('.verdict.worse')");
    await browser.press('x');
    await browser.until("document.querySelector('.verdict.better')");
    await click('[aria-label="Flipped tasks"] a');
    await browser.until("document.querySelector('.steps')");
    expect(await text('.two')).toMatch(/baseline · loop[\s\S]*failed[\s\S]*agents-md · loop[\s\S]*passed/);
    expect(await count('.steps .same')).toBe(2);
    expect(await text('.divergence')).toBe('Both made the same 2 tool calls in the same order.');
    expect(await count('.timelines svg .model')).toBe(6);
    expect(await text()).toContain('The same text on both sides.');
    expect(await count('.two .patch')).toBeGreaterThan(1);
    await click('.steps a');
    await browser.until("document.activeElement.matches('.transcript .wanted')");
    expect(await text('.wanted')).toContain('read_file');
    expect(browser.takeProblems()).toEqual([]);
  });

  test('sides are chosen from lists, and sides that cannot be compared say why', async () => {
    const { open, browser, text, count, sampleId } = opened();
    await open(`#/compare?a=${sampleId}&b=${sampleId}`);
    expect(await text('.problem')).toMatch(/are the same arms of the same run.*Choose two arms of one run/s);
    await browser.evaluate(
      "const arm = document.querySelectorAll('.picker select')[1]; arm.selectedIndex = 1; arm.dispatchEvent(new Event('change'))",
    );
    await browser.until("location.hash.includes('arm-a=')");
    expect(await count('.picker select')).toBe(4);
    browser.takeProblems(); // the browser logs the refused comparison
  });

  test('a case leads to its counterpart by a key', async () => {
    const { open, browser, text, sampleId } = opened();
    await open(`${runHash(sampleId)}/cases/case-0-0-1-1`);
    await browser.press('b');
    await browser.until("document.querySelector('.steps')");
    expect(await text('.two')).toMatch(/A\s+baseline · loop[\s\S]*B\s+agents-md · loop/);
    const others = await text('[aria-label="Other cases for B"]');
    expect(others.split('\n').map((arm) => arm.trim())).toEqual([
      'baseline · loop',
      'agents-md · loop',
      'baseline · codex',
      'agents-md · codex',
    ]);
  });

  test.each(['compare', 'pair'])('on the %s page hostile texts are texts', async (kind) => {
    const { open, browser, text, count } = opened();
    const id = encodeURIComponent(HOSTILE_RUN_ID);
    await open(
      kind === 'compare'
        ? `#/compare?a=${id}&b=${id}`
        : pairHash(HOSTILE_RUN_ID, 'case-0-0-0-1', 'case-0-0-1-1'),
    );
    expect(await browser.evaluate('typeof globalThis.pwned')).toBe('undefined');
    expect(await count('main :is(img, script, iframe, style, link, form, base)')).toBe(0);
    expect(await text()).toContain('⟨U+202E⟩');
    browser.takeProblems();
  });
}
