import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import type { JsonObject } from '@whetstone/events';
import { createProgram } from '../../packages/whetstone/src/cli/main.ts';
import { commandPages, type MadePage } from './command-pages.ts';
import { configPages } from './config-pages.ts';

const root = join(import.meta.dirname, '../..');

/** Pages of `docs/` for those who work on Whetstone: the site has none of them. */
export const UNPUBLISHED: readonly string[] = ['architecture.md', 'decisions.md'];

/** Pages that are made, by what they are about. */
export type MadePages = { commands: MadePage[]; config: MadePage[] };

/** The pages that are made from the program and from the schema of its configuration. */
export function madePages(): MadePages {
  const schema = join(root, 'packages/whetstone/schema/whetstone.schema.json');
  return {
    commands: commandPages(createProgram(() => undefined)),
    config: configPages(JSON.parse(readFileSync(schema, 'utf8')) as JsonObject),
  };
}

/** The published pages of `docs/`, by their paths. */
export const writtenPages = (): string[] =>
  globSync('**/*.md', { cwd: join(root, 'docs') })
    .filter((path) => !UNPUBLISHED.includes(path))
    .sort();

/** Writes the sources of the site into a folder: the pages of `docs/`, those that are made, and a first page. */
export function writePages(
  folder: string,
  { commands, config }: MadePages,
  address: string | undefined,
): void {
  rmSync(folder, { recursive: true, force: true });
  const write = (path: string, text: string) => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  for (const path of writtenPages()) {
    const text = readFileSync(join(root, 'docs', path), 'utf8');
    write(sitePath(path), siteLinks(text, path, address));
  }
  cpSync(join(root, 'docs/pictures'), join(folder, 'pictures'), { recursive: true });
  for (const { path, text } of [...commands, ...config]) write(path, text);
  write('commands/index.md', listOf('Commands', commands, 'commands/'));
  write('config/index.md', listOf('Keys of whetstone.yaml', config, 'config/'));
  write(
    'changes.md',
    siteLinks(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), '../CHANGELOG.md', address),
  );
  write('index.md', FIRST_PAGE);
}

/** A folder's first page is its README in the repository. */
export const sitePath = (path: string): string => path.replace(/(^|\/)README\.md$/, '$1index.md');

/** The links of a page of `docs/`, or of CHANGELOG.md, as they are on the site. What the site does not have is in the repository on the web. */
export function siteLinks(text: string, path: string, address: string | undefined): string {
  // The site has the page of changes, which lies above `docs/`, at its root.
  const folder = posix.normalize(posix.dirname(path).replace(/^\.\.(?=\/|$)/, '.'));
  return text.replaceAll(
    /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)\s]+)\)/g,
    (whole, picture: string, label: string, target: string) => {
      const [file = '', anchor] = target.split('#');
      const place = posix.normalize(posix.join('docs', posix.dirname(path), file));
      const inDocs = place.startsWith('docs/') ? place.slice('docs/'.length) : undefined;
      if (inDocs !== undefined && !UNPUBLISHED.includes(inDocs)) {
        return picture === '!'
          ? whole
          : `[${label}](${posix.relative(folder, sitePath(inDocs))}${anchor === undefined ? '' : `#${anchor}`})`;
      }
      return address === undefined
        ? label
        : `[${label}](${address}/blob/HEAD/${place}${anchor ? `#${anchor}` : ''})`;
    },
  );
}

const listOf = (title: string, pages: readonly MadePage[], folder: string): string =>
  [
    `# ${title}`,
    '',
    ...pages.map((page) => `- [\`${page.title}\`](${page.path.slice(folder.length)})`),
    '',
  ].join('\n');

const FIRST_PAGE = `---
layout: home
hero:
  name: Whetstone
  text: Build, run and measure coding agents, and believe the result
  tagline: Does this AGENTS.md, skill, model or agent make the work better? Agent × task × variant × trial on your repository.
  actions:
    - { theme: brand, text: Does my AGENTS.md help?, link: /tutorial }
    - { theme: alt, text: One command to the answer, link: /try }
features:
  - { title: Tasks, details: From your own history or written by hand; audited before you trust them., link: /tasks }
  - { title: Results, details: 'Verdicts with intervals, and "inconclusive" where that is what the numbers show.', link: /results }
  - { title: Agents, details: 'Codex, Claude Code, Gemini CLI and others, a command of yours, or our own loop.', link: /agents/ }
  - { title: The gateway, details: 'Meters, limits, records, replays and plays the model.', link: /gateway }
  - { title: In CI, details: A comment on each pull request that changes what agents read., link: /ci }
  - { title: Reference, details: 'Every command, every key of the configuration, every error.', link: /commands/ }
---
`;
