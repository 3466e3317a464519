import { expect, test } from 'vitest';
import { caseHash, type OpenedPage } from './opened-page.ts';

/** What somebody asks who has never seen the product, and the few clicks and keys that answer it on the page. */
export function checkQuestions(opened: () => OpenedPage): void {
  test('answers ten questions and more within a few clicks', async () => {
    const { open, browser, text, click, sampleId } = opened();
    const jump = (title: string) =>
      browser.evaluate(
        `[...document.querySelectorAll('.contents button')].find((one) => one.innerText === '${title}').click()`,
      );
    const section = (title: string) =>
      browser.evaluate<string>(
        `[...document.querySelectorAll('section')].find((one) => one.innerText.startsWith('${title}')).innerText`,
      );
    await open('');
    await browser.evaluate(`document.querySelector('a[href*="${sampleId}"]').click()`);
    await browser.until("document.querySelector('.heat a')");
    const answers: Record<string, string> = {
      'Is B better than A?': await text('.verdict.better h2'),
      'What would settle it?': await text('.verdict.inconclusive .settles'),
      'What did this cost?': await text('.tiles'),
      'What does this not show?': await text('.caveats'),
      'Why have cases no result?': await text('.failure-class:last-of-type .evidence'),
      'On which commit did it run?': await section('Provenance'),
      'What could this agent have read?': await section('What agents could read and reach'),
    };
    await browser.press('f');
    answers['Which task flipped?'] = await text('.heat-body .heat-row');
    await click('.heat-body a.dot.failed');
    await browser.until("document.querySelector('.transcript')");
    answers['Why did it fail?'] = await text('p.evidence');
    answers['Where is the assertion that failed?'] = await text('.why figcaption');
    answers['Which instructions did it read?'] = await section('Instruction files');
    await jump('Transcript');
    answers['What did the agent do before it failed?'] = await text('.transcript li.bad');
    await jump('Changes');
    answers['What did the agent change?'] = await text('.patch ins');
    await click('.call-bodies summary');
    await browser.until("document.querySelector('.call-bodies .messages')");
    answers['What did the agent ask its model?'] = await text('.call-bodies .messages');
    await open(caseHash(sampleId, 'case-0-0-1-1'));
    await browser.press('b');
    await browser.until("document.querySelector('.steps')");
    answers['Where did the two part?'] = await text('.divergence');
    answers['What did the variant change in the request?'] = await section('What differs');
    expect(answers).toEqual({
      'Is B better than A?': 'agents-md is better than baseline',
      'What would settle it?': expect.stringMatching(/to settle 10 pp: about \d+ tasks/),
      'What did this cost?': expect.stringContaining('$1.10'),
      'What does this not show?': expect.stringContaining('The network was open'),
      'Why have cases no result?': 'The model answered 503 three times.',
      'On which commit did it run?': expect.stringContaining('0123456789abcdef0123456789abcdef01234567'),
      'What could this agent have read?': expect.stringMatching(
        /An agent could read files of the user who runs it\.[\s\S]*Network\s+open[\s\S]*hidden\/\s+hidden tests/,
      ),
      'Which task flipped?': expect.stringMatching(/^fix-parser[\s\S]*\+\d+ pp/),
      'Why did it fail?': '`npm test` exited with 1.',
      'Where is the assertion that failed?': 'src/parser.js:2',
      'Which instructions did it read?': expect.stringMatching(/CLAUDE\.md\s+whole\s+AGENTS\.md\s+no/),
      'What did the agent do before it failed?': expect.stringContaining('npm test'),
      'What did the agent change?': "+  const rows = text.split('\\n');",
      'What did the agent ask its model?': expect.stringContaining('Make the parser understand rows.'),
      'Where did the two part?': 'Both made the same 2 tool calls in the same order.',
      'What did the variant change in the request?': expect.stringContaining('Run the tests before you end.'),
    });
    expect(browser.takeProblems()).toEqual([]);
  });
}
