import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type UserConfig } from 'vitepress';
import { webAddress } from '../release/published-package.ts';
import { deadAnchors } from './dead-anchors.ts';
import { sidebar } from './sidebar.ts';
import { madePages, writePages } from './write-pages.ts';

/** Of the repository. */
export const root = join(import.meta.dirname, '../..');

/** Where the site is built in a clone. `whetstone docs` looks here. */
export const siteFolder = join(root, '.whetstone/site');

/**
 * Builds the site into `out`: the pages of `docs/`, one per command and one per key of the configuration, with a search that needs no
 * server. Reads and writes only this machine. `base`: the path at which it is served, default `/`.
 * @param extra Pages beside these, by path; with `only`, these alone beside the written pages of that list. For tests.
 * @throws Error for a link to a page or a heading that is not there
 */
export async function buildSite(
  out: string,
  extra: Readonly<Record<string, string>> = {},
  { only, base = '/' }: { only?: readonly string[]; base?: string } = {},
): Promise<void> {
  const made = madePages();
  const address = repositoryAddress();
  const source = join(siteFolder, 'source');
  rmSync(source, { recursive: true, force: true });
  writePages(join(source, 'pages'), made, address);
  for (const [path, text] of Object.entries(extra)) writeFileSync(join(source, 'pages', path), text);
  const { version } = JSON.parse(readFileSync(join(root, 'packages/whetstone/package.json'), 'utf8'));
  if (only) {
    const kept = [...only, ...Object.keys(extra)];
    const pages = globSync('**/*.md', { cwd: join(source, 'pages') });
    for (const path of pages) if (!kept.includes(path)) rmSync(join(source, 'pages', path));
  }
  const config: UserConfig = {
    title: 'Whetstone',
    description: 'Build, run and measure coding agents, and believe the result.',
    ...{ lang: 'en', base },
    srcDir: 'pages',
    outDir: out,
    cacheDir: join(source, 'cache'),
    ignoreDeadLinks: false,
    vite: { logLevel: 'error', build: { chunkSizeWarningLimit: 2_000 } },
    lastUpdated: false,
    metaChunk: true,
    themeConfig: {
      nav: [
        { text: 'Tutorial', link: '/tutorial' },
        { text: 'Commands', link: '/commands/' },
        { text: 'Configuration', link: '/configuration' },
        { text: `v${version}`, items: versionMenu(base) },
      ],
      sidebar: sidebar(made),
      search: { provider: 'local' },
      outline: [2, 3],
      ...(address !== undefined && { socialLinks: [{ icon: 'git', link: address }] }),
    },
  };
  mkdirSync(join(source, '.vitepress'), { recursive: true });
  // Vitepress reads its configuration from a file. Pages are Markdown alone: no tag and no pair of braces in them is code.
  writeFileSync(
    join(source, '.vitepress/config.mjs'),
    `${SETTINGS}\nexport default { ...${JSON.stringify(config)}, markdown };\n`,
  );
  writeFileSync(join(source, 'tsconfig.json'), '{}\n');
  await build(source);
  const dead = deadAnchors(out, base);
  if (dead.length > 0) throw new Error(`Links to headings that are not there:\n${dead.join('\n')}`);
}

/** What changed in this version, and where a site of several versions has the others. */
function versionMenu(base: string) {
  const all = { text: 'All versions', link: '/../versions.html', target: '_self' };
  return [{ text: 'What changed', link: '/changes' }, ...(base === '/' ? [] : [all])];
}

/**
 * Headings have the anchors that they have in the repository on the web, because links are written for both. Two braces in a text
 * would be code of Vue.
 */
const SETTINGS = `const slugify = (text) =>
  text.trim().toLowerCase().replace(/[^\\p{L}\\p{N}\\p{M} _-]/gu, '').replaceAll(' ', '-');
const markdown = {
  ...{ html: false, linkify: false },
  ...{ anchor: { slugify }, headers: { slugify }, toc: { slugify } },
  config(md) {
    for (const rule of ['text', 'code_inline']) {
      const render = md.renderer.rules[rule];
      md.renderer.rules[rule] = (...given) => render(...given).replaceAll('{{', '&#123;&#123;');
    }
  },
};`;

function repositoryAddress(): string | undefined {
  try {
    const args = ['remote', 'get-url', 'origin'];
    return webAddress(
      execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim(),
    );
  } catch {
    return undefined; // a copy without a remote
  }
}
