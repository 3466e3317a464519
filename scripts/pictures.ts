/**
 * Makes the pictures of `docs/pictures` anew from a run of the demo: the terminal as SVG, from the text that it got, and
 * two pages as PNG, from Chromium. Run it after a change of what they show: `node scripts/pictures.ts`.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromiumPath, openBrowser } from '../packages/view/src/__fixtures__/browser.ts';
import { serveRuns } from '../packages/whetstone/src/view/server.ts';
import { terminalSvg } from './pictures/terminal-svg.ts';

const root = join(import.meta.dirname, '..');
const pictures = join(root, 'docs/pictures');
const CASE = 'fix-duration__with-rules__loop-openai__trial-1';

const { stdout, stderr, status } = spawnSync(process.execPath, [join(root, 'examples/demo/demo.ts')], {
  cwd: root,
  env: { ...process.env, FORCE_COLOR: '1' },
  encoding: 'utf8',
});
if (status !== 0) throw new Error(`The demo failed:\n${stderr}`);
if (chromiumPath === undefined) throw new Error('Install Chromium: npm run setup:system');
mkdirSync(pictures, { recursive: true });

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
]) {
  await browser.resize(1200, height);
  await browser.goto(server.url + hash);
  await browser.until("document.querySelector('main article')");
  await browser.evaluate(hideRoot);
  writeFileSync(join(pictures, `${name}.png`), await browser.picture());
}
await server.close();
