import { expect, test } from 'vitest';
import { HOSTILE_RUN_ID } from '../../../whetstone/src/view/__fixtures__/run-directories.ts';
import { caseHash, type OpenedPage, pairHash } from './opened-page.ts';

export function checkCalls(opened: () => OpenedPage): void {
  test('each model call opens its request and its reply, which are only then loaded', async () => {
    const { open, browser, text, count, click, sampleId } = opened();
    await open(caseHash(sampleId, 'case-0-0-0-2'));
    const asked = (part: string) =>
      browser.evaluate<number>(
        `performance.getEntriesByType('resource').filter(({ name }) => name.includes(${JSON.stringify(part)})).length`,
      );
    expect(await count('.call-bodies > details')).toBe(3);
    expect(await asked('/exchanges/')).toBe(0);
    await click('[data-call=c3] > summary');
    await browser.until("document.querySelector('[data-call=c3] .messages')");
    expect(await asked('/exchanges/')).toBe(1);
    const folds = "[...document.querySelectorAll('[data-call=c3] details:not(.raw *)')]";
    await browser.until(`${folds}.map((one) => (one.open = true)).length === 6`); // what unfolds has folds
    await browser.until(`${folds}.every((one) => one.childElementCount > 1)`);
    const shown = await text('[data-call=c3]');
    for (const part of [
      'System prompt, 23 characters',
      'You are a coding agent.',
      '2 tools: read_file, shell',
      'Make the parser understand rows.',
      'call read_file',
      'result read_file',
      'Done.',
    ]) {
      expect(shown).toContain(part);
    }
    await click('[data-call=c3] .raw summary');
    await browser.until("document.querySelector('[data-call=c3] .raw pre')?.innerText.startsWith('{')");
    expect(JSON.parse(await text('[data-call=c3] .raw pre'))).toMatchObject({ model: 'scripted' });
    expect(await count('[data-call=c3] a[download]')).toBe(2);

    await browser.evaluate(
      'document.querySelector(\'[aria-label="Calls over time"] a[href$="call=c2"]\').click()',
    );
    await browser.until("document.querySelector('[data-call=c2] .messages')");
    expect(await text('[data-call=c2]')).toContain('The reply has no message.');
    expect(browser.takeProblems()).toEqual([]);
  });

  test('two arms side by side show what the variant changed in the first request', async () => {
    const { open, text, sampleId, browser } = opened();
    await open(pairHash(sampleId, 'case-0-0-0-2', 'case-0-0-1-1'));
    const section = `[...document.querySelectorAll('section')].find((one) => one.innerText.startsWith('What differs'))`;
    const shown = await browser.evaluate<string>(`${section}.innerText`);
    expect(shown).toContain('The same on both sides: model, messages.');
    expect(await browser.evaluate(`${section}.querySelector('ins').innerText`)).toBe(
      'Run the tests before you end.',
    );
    expect(await browser.evaluate(`${section}.querySelectorAll('del').length`)).toBe(0);
    expect(shown).toContain('run_tests: only B');
    expect(await text()).toContain('The same text on both sides.'); // the prompt
    expect(browser.takeProblems()).toEqual([]);
  });

  test('what a hostile model call says is text', async () => {
    const { open, browser, text, count, click } = opened();
    await open(caseHash(HOSTILE_RUN_ID, 'case-0-0-1-1'));
    await click('.call-bodies > details > summary');
    await browser.until("document.querySelector('.call-bodies .messages')");
    await browser.evaluate(
      "for (const one of document.querySelectorAll('.call-bodies details')) one.open = true",
    );
    await browser.until("document.querySelector('.call-bodies .raw pre')?.innerText.startsWith('{')");
    expect(await text('.call-bodies')).toContain('<script>globalThis.pwned=1</script>');
    expect(await text('.call-bodies')).toContain('⟨U+202E⟩');
    expect(await count('main :is(img, script, iframe, style, link, form, base)')).toBe(0);
    expect(await browser.evaluate('typeof globalThis.pwned')).toBe('undefined');
    expect(browser.takeProblems()).toEqual([]);
  });
}
