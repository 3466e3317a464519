import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProject } from '../../../whetstone/src/cli/__fixtures__/project.ts';
import { serveRuns } from '../../../whetstone/src/view/server.ts';
import { caseHash, type OpenedPage } from './opened-page.ts';
import { differentPictures } from './pictures.ts';

export function checkWorkbench(opened: () => OpenedPage): void {
  const press = (text: string) =>
    opened().browser.evaluate(
      `[...document.querySelectorAll('main button')].find((one) => one.innerText === ${JSON.stringify(text)}).click()`,
    );

  test('a person labels a case, and the label is kept beside the run', async () => {
    const { open, browser, text, folder, sampleId } = opened();
    await open(caseHash(sampleId, 'case-0-0-0-2'));
    await browser.evaluate("document.querySelector('.review textarea').value = 'It guesses.'");
    await press('I would fail it');
    await browser.until(
      "document.querySelector('.review [aria-pressed=true]')?.innerText === 'I would fail it'",
    );
    expect(await text('.review [role=status]')).toBe('1 of its cases has a label. No judge judged this run.');
    const kept = JSON.parse(await readFile(join(folder, sampleId, 'labels.jsonl'), 'utf8'));
    expect(kept).toMatchObject({ id: 'case-0-0-0-2', human: 'failed', note: 'It guesses.' });
    await press('Take the label away');
    await browser.until("!document.querySelector('.review [aria-pressed=true]')");
    expect(await readFile(join(folder, sampleId, 'labels.jsonl'), 'utf8')).toBe('');
    expect(browser.takeProblems()).toEqual([]);
  });

  test('a configuration is edited, checked, started, watched and stopped, and no run outlives the server', async () => {
    const { browser, open, text, count } = opened();
    using project = makeProject({ agents: { slow: 'echo began; sleep 300' } });
    const config = join(project.root, 'whetstone.yaml');
    const server = await serveRuns({ outputDirectory: project.runs, config });
    try {
      await browser.goto(server.url);
      await open('#/start', server.url);
      await browser.until("!document.querySelector('.primary').disabled");
      expect(await text('.choices')).toContain('slow');
      await press('Show commands');
      await browser.until("document.querySelector('pre.command')");
      expect(await text('pre.command')).toContain('agents/slow.sh');

      const before = await readFile(config, 'utf8');
      const edit = (from: string, to: string) =>
        browser.evaluate(
          `{ const area = document.querySelector('.editor textarea'); area.value = area.value.replace(${JSON.stringify(from)}, ${JSON.stringify(to)}); area.dispatchEvent(new Event('input')) }`,
        );
      await edit('custom', 'costum');
      await browser.until("document.querySelector('.gutter .error')");
      expect(await text('.findings')).toMatch(/agents\.slow\.kind[\s\S]*did you mean custom/);
      expect(await browser.evaluate("document.querySelector('.primary').disabled")).toBe(true);
      expect(await browser.evaluate("document.querySelector('.primary').title")).toContain(
        'no error is left',
      );
      expect(await readFile(config, 'utf8')).toBe(before);
      await edit('costum', 'custom');
      await browser.until("!document.querySelector('.primary').disabled");

      await press('Start run');
      await browser.until("document.querySelector('.job a')");
      await browser.evaluate("document.querySelector('.job a').click()");
      await browser.until("document.querySelector('#activity td')");
      expect(await text('#activity')).toMatch(/0 of \d+ cases? finished/);
      const id = await browser.evaluate<string>("decodeURIComponent(location.hash.split('/')[2])");
      expect(
        await differentPictures('running', browser, {
          [project.root]: '~/project',
          [id]: '2026-01-02T03-04-05Z',
        }),
      ).toEqual([]);
      await open('#/start', server.url);
      await browser.until("document.querySelector('.job button')");
      await press('Stop');
      await browser.until("document.querySelector('.job .badge').innerText.startsWith('ended')");
      expect(await text('.job')).toContain('exit code 130');

      await browser.until("!document.querySelector('.primary').disabled");
      await press('Start run');
      await browser.until("document.querySelectorAll('.job a').length === 2");
      expect(await count('.job .badge.running')).toBe(1);
      browser.takeProblems(); // an edited file that nobody saved
    } finally {
      await server.close();
    }
    expect(processesWith(project.root)).toEqual([]);
  }, 240_000);
}

/** The command lines of all processes of this machine that have a text in them. */
const processesWith = (text: string): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return line.includes(text) ? [line] : [];
      } catch {
        return [];
      }
    });
