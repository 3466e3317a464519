import { expect, test } from 'vitest';
import type { Browser } from '../../packages/view/src/__fixtures__/browser.ts';
import { serveRuns } from '../../packages/whetstone/src/view/server.ts';

/** A question, the links that are clicked from the first page on, and what the last page says. */
const QUESTIONS: readonly [question: string, clicks: readonly string[], answer: RegExp][] = [
  ['Does my AGENTS.md help?', ['Does my AGENTS.md help?'], /whetstone run/],
  ['Can one command tell me?', ['One command to the answer'], /whetstone try/],
  ['When is B better than A?', ['Results'], /better and worse need an interval without 0/],
  ['What would settle it?', ['Results', 'How many tasks it takes'], /whetstone plan/],
  ['What does a run cost?', ['Results', 'What a run costs'], /dollar|USD|\$/],
  ['What can an agent read?', ['Results', 'Security'], /bubblewrap[\s\S]*read/],
  ['How do I get a comment on a pull request?', ['In CI'], /whetstone ci github/],
  ['Has the model got worse?', ['Results', 'The drift canary'], /one false alarm in 200 nights/i],
  ['Can my agent measure by itself?', ['Results', 'Measuring from inside an agent'], /whetstone mcp/],
  ['Where do tasks come from?', ['Tasks'], /whetstone tasks mine/],
  ['What does exit code 2 mean?', ['Results', 'The command line'], /exit code[\s\S]*2/i],
  ['What does an error mean?', ['Results', 'Errors'], /docs-missing[\s\S]*npm run docs/],
  ['How do I limit what a run spends?', ['Configuration', 'The gateway'], /budget/],
  ['What changed in this version?', ['What changed'], /0\.1\.0[\s\S]*whetstone run/],
];

/** What somebody asks who has never seen the product, answered by clicks on the site, and the way from the page of runs to the site. */
export function checkQuestions(opened: () => { browser: Browser; url: string }): void {
  const main = "document.querySelector('main, .VPHome')";
  /** Clicks the link that a reader sees, by its words. */
  const click = async (browser: Browser, words: string) => {
    const before = await browser.evaluate<string>('location.pathname');
    const title = await browser.evaluate<string>("document.querySelector('h1')?.innerText ?? ''");
    const clicked = await browser.evaluate<boolean>(`(() => {
      const links = [...document.querySelectorAll('a, button')].filter((one) => one.offsetParent !== null || one.closest('.menu'));
      const found = links.find((one) => (one.querySelector('.title') ?? one).innerText?.trim() === ${JSON.stringify(words)} || one.textContent.trim() === ${JSON.stringify(words)});
      found?.click();
      return found !== undefined;
    })()`);
    expect(clicked, `a link "${words}" on ${before}`).toBe(true);
    await browser.until(
      `(document.querySelector('.vp-doc h1')?.innerText ?? ${JSON.stringify(title)}) !== ${JSON.stringify(title)}`,
    );
  };

  test.each(QUESTIONS)('"%s" is answered by clicks', async (_, clicks, answer) => {
    const { browser, url } = opened();
    await browser.goto(url);
    await browser.until(`${main} !== null`);
    for (const words of clicks) await click(browser, words);
    expect(await browser.evaluate<string>(`${main}.innerText`)).toMatch(answer);
    expect(browser.takeProblems()).toEqual([]);
  });

  test('the page of runs leads to the documentation of its version', async () => {
    const { browser, url } = opened();
    await using server = await serveRuns({ outputDirectory: '/nonexistent' });
    await browser.goto(server.url);
    await browser.until("document.querySelector('#docs')");
    await browser.evaluate(
      "document.querySelector('#docs').target = ''; document.querySelector('#docs').click()",
    );
    await browser.until(`${main} && document.body.innerText.includes('One command to the answer')`);
    expect(await browser.evaluate<string>('location.port')).not.toBe(new URL(server.url).port);
    expect(await browser.evaluate<string>('location.port')).not.toBe(new URL(url).port);
    expect(browser.takeProblems()).toEqual([]);
  });
}
