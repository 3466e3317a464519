import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Browser, chromiumPath, openBrowser } from '../../packages/view/src/__fixtures__/browser.ts';
import {
  makeProject,
  type Project,
  type Started,
} from '../../packages/whetstone/src/cli/__fixtures__/project.ts';
import { createProgram } from '../../packages/whetstone/src/cli/main.ts';
import { buildSite, root, siteFolder } from './build-site.ts';
import { deadAnchors } from './dead-anchors.ts';
import { checkQuestions } from './questions.ts';
import { sidebar } from './sidebar.ts';
import { buildVersion, writeVersions } from './version-folders.ts';
import { madePages, sitePath, writtenPages } from './write-pages.ts';

const BUILD = join(import.meta.dirname, '../build-site.ts');

/** Where the program looks in a clone. */
const site = join(siteFolder, 'dist');
let project: Project;
let program: Started;
let url: string;

beforeAll(async () => {
  // As users get it: in a process of its own, because Vue reads NODE_ENV.
  const { NODE_ENV: _, ...env } = process.env;
  await promisify(execFile)(process.execPath, [BUILD], { env });
  project = makeProject();
  program = project.start(['docs', '--json']);
  const [line] = await once(program.child.stdout ?? expect.fail(), 'data');
  ({ url } = JSON.parse(String(line)));
}, 180_000);
afterAll(async () => {
  program?.child.kill('SIGINT');
  expect(await program?.finished).toMatchObject({ exitCode: 0 });
  project?.[Symbol.dispose]();
});

const html = (page: string) => readFileSync(join(site, page), 'utf8');

test('has a page per command and per key, with the words of --help and of the schema', () => {
  const { commands, config } = madePages();
  for (const { path } of [...commands, ...config])
    expect(html(path.replace(/\.md$/, '.html'))).toContain('<h1');
  const run = createProgram(() => undefined).commands.find((one) => one.name() === 'run');
  const page = html('commands/run.html');
  for (const { flags, hidden } of run?.options ?? [])
    if (!hidden) expect(page).toContain(flags.replaceAll('<', '&lt;').replaceAll('>', '&gt;'));
  expect(html('config/gateway.html')).toContain('The most of all cases together.');
  expect(commands.map(({ title }) => title)).toEqual(
    expect.arrayContaining(['ci run', 'canary run', 'docs']),
  );
});

test('a request from another site, with another name, or for a file outside is refused', async () => {
  expect((await fetch(url)).status).toBe(200);
  expect((await fetch(url, { headers: { origin: 'http://evil.example' } })).status).toBe(403);
  expect((await fetch(url, { method: 'POST' })).status).toBe(405);
  const outside = await fetch(`${url}..%2f..%2f..%2fetc%2fpasswd`);
  expect(outside.status).toBe(404);
  expect(await outside.text()).not.toContain('root:');
});

describe.skipIf(chromiumPath === undefined)('in a browser', { tags: 'chromium' }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser(chromiumPath ?? '');
    await browser.resize(1400, 900);
  }, 60_000);
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
  });

  checkQuestions(() => ({ browser, url }));

  test('search finds a command, dark mode toggles, and no request leaves this machine', async () => {
    await browser.goto(url);
    await browser.until("document.querySelector('.VPNavBarSearch button')");
    expect(await browser.evaluate('document.body.innerText')).not.toContain('{{');
    await browser.evaluate("document.querySelector('.VPNavBarSearch button').click()");
    await browser.until("document.querySelector('.VPLocalSearchBox input')");
    await browser.evaluate(`(() => {
      const input = document.querySelector('.VPLocalSearchBox input');
      input.value = 'whetstone canary run';
      input.dispatchEvent(new Event('input', { bubbles: true }));
    })()`);
    await browser.until(`document.querySelector('.VPLocalSearchBox a[href*="commands/canary-run"]')`);
    await browser.evaluate(
      `document.querySelector('.VPLocalSearchBox a[href*="commands/canary-run"]').click()`,
    );
    await browser.until("document.querySelector('h1')?.textContent.includes('whetstone canary run')");

    const isDark = () => browser.evaluate<boolean>("document.documentElement.classList.contains('dark')");
    const before = await isDark();
    await browser.evaluate("document.querySelector('.VPSwitchAppearance').click()");
    await browser.until(`document.documentElement.classList.contains('dark') === ${!before}`);
    expect(await isDark()).toBe(!before);

    const asked = await browser.evaluate<string[]>(
      "performance.getEntriesByType('resource').map(({ name }) => new URL(name).origin)",
    );
    expect(new Set(asked)).toEqual(new Set([new URL(url).origin]));
    expect(browser.takeProblems()).toEqual([]);
  });
});

test('sites of several versions stand side by side, with a list of them and a way to it', async () => {
  const folder = join(project.root, 'hosted');
  await buildVersion(folder, '/docs/', { only: ['changes.md'] });
  const { version } = JSON.parse(readFileSync(join(root, 'packages/whetstone/package.json'), 'utf8'));
  const built = readFileSync(join(folder, `v${version}/changes.html`), 'utf8');
  expect(built).toContain(`href="/docs/v${version}/assets/`);
  expect(built).toContain(`href="/docs/v${version}/../versions.html"`);
  expect(html('cost.html')).toContain(`v${version}`);
  expect(html('cost.html')).not.toContain('versions.html');
  expect(html('changes.html')).toContain('whetstone run');

  for (const other of ['v0.0.9', 'v0.0.10', 'other']) mkdirSync(join(folder, other));
  writeVersions(folder);
  const list = readFileSync(join(folder, 'versions.html'), 'utf8');
  expect([...list.matchAll(/href="([^"]*)"/g)].map(([, link]) => link)).toEqual([
    ...[`v${version}/`, 'v0.0.10/', 'v0.0.9/'],
  ]);
  expect(readFileSync(join(folder, 'index.html'), 'utf8')).toContain(`url=v${version}/`);
}, 120_000);

test('a link to a page that is not there fails the build', async () => {
  const extra = { 'extra.md': '# Extra\n\n[gone](gone.md)\n' };
  await expect(buildSite(join(project.root, 'broken'), extra, { only: [] })).rejects.toThrow(/1 dead link/);
});

test('a link to a heading that is not there is found', () => {
  expect(deadAnchors(site)).toEqual([]);
  const copy = join(project.root, 'site');
  for (const page of ['cost.html', 'canary.html']) cpSync(join(site, page), join(copy, page));
  mkdirSync(join(copy, 'agents'));
  writeFileSync(
    join(copy, 'agents/extra.html'),
    '<a href="/cost.html#gone">1</a><a href="../canary.html#what-is-tested">2</a><a href="#here">3</a>',
  );
  expect(deadAnchors(copy)).toEqual(
    expect.arrayContaining([
      'agents/extra.html: cost.html#gone',
      'agents/extra.html: agents/extra.html#here',
    ]),
  );
  expect(deadAnchors(copy).join()).not.toContain('canary.html#what-is-tested');
});

test('every published page is in the sidebar once, and no other', () => {
  const links = JSON.stringify(sidebar(madePages())).matchAll(/"link":"\/([^"]*)"/g);
  const pages = [...links].map(([, link = '']) =>
    link === '' || link.endsWith('/') ? `${link}index` : link,
  );
  const published = [
    ...writtenPages().map((path) => sitePath(path).replace(/\.md$/, '')),
    ...Object.values(madePages()).flatMap((made) => made.map(({ path }) => path.replace(/\.md$/, ''))),
    ...['commands/index', 'config/index', 'changes'],
  ];
  expect(pages.toSorted()).toEqual(published.toSorted());
});
