/**
 * Makes the pictures of `docs/pictures` anew from a run of the demo: the terminal as SVG, from the text that it got, and
 * pages as PNG, from Chromium. Run it after a change of what they show: `npm run pictures`. `--from FILE`: the demo has run
 * already, and its output is in that file. `--out FOLDER`: where the pictures go. CI makes them that way, so that a page or a
 * terminal that cannot be drawn any more is noticed.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chromiumPath, openBrowser } from '../packages/view/src/__fixtures__/browser.ts';
import { serveRuns } from '../packages/whetstone/src/view/server.ts';
import { requireBothVerdicts } from './pictures/demo-verdicts.ts';
import { terminalSvg } from './pictures/terminal-svg.ts';

const root = join(import.meta.dirname, '..');
const { from, out = join(root, 'docs/pictures') } = parseArgs({
  options: { from: { type: 'string' }, out: { type: 'string' } },
}).values;
const pictures = resolve(out);
const BESIDE = ['without', 'with'].map((arm) => `add-initials__${arm}-rules__loop-openai__trial-1`);
const CASE = 'fix-duration__with-rules__loop-openai__trial-1';

const stdout = from === undefined ? runDemo() : readFileSync(from, 'utf8');
if (chromiumPath === undefined) throw new Error('Install Chromium: npm run setup:system');
mkdirSync(pictures, { recursive: true });

requireBothVerdicts(stdout);
// What it prints up to the failures, which name many files.
const [shown = ''] = stdout.split(/\n\n[^\n]*Agent's work failed/);
writeFileSync(join(pictures, 'terminal.svg'), terminalSvg('npm run demo', shown));

const outputDirectory = join(root, '.whetstone/demo/runs');
const [run = ''] = readdirSync(outputDirectory).sort().reverse();
// A path of this machine does not help a reader.
const hideRoot = `for (const texts = document.createTreeWalker(document.body, 4); texts.nextNode(); )
  texts.currentNode.data = texts.currentNode.data.replaceAll(${JSON.stringify(root)}, '~/whetstone')`;
const server = await serveRuns({ outputDirectory });
await using browser = await openBrowser(chromiumPath);
await browser.prefer('light');
for (const { name, hash, height } of [
  { name: 'run', hash: `#/runs/${run}`, height: 1560 },
  { name: 'case', hash: `#/runs/${run}/cases/${CASE}`, height: 1000 },
  { name: 'side-by-side', hash: `#/side-by-side/${run}/${BESIDE[0]}/${run}/${BESIDE[1]}`, height: 1000 },
]) {
  await browser.resize(1200, height);
  await browser.goto(server.url + hash);
  await browser.until("document.querySelector('main article')");
  // The source of a failure comes from the repository.
  await browser.until("!document.querySelector('.why') || document.querySelector('.why figcaption')");
  await browser.evaluate(hideRoot);
  writeFileSync(join(pictures, `${name}.png`), await browser.picture());
}
await server.close();

/** What the demo prints. */
function runDemo(): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(root, 'examples/demo/demo.ts')], {
    cwd: root,
    env: { ...process.env, FORCE_COLOR: '1' },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The demo failed:\n${stderr}`);
  return stdout;
}
