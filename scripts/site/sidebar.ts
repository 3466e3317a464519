import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type MadePages, sitePath, writtenPages } from './write-pages.ts';

const docs = join(import.meta.dirname, '../../docs');

type Item = { text: string; link: string };
type Group = { text: string; collapsed?: boolean; items: (Item | Group)[] };

/** The written pages in the order of the sidebar. Pages of a folder follow its first page, by their names. */
export const SECTIONS: readonly { text: string; pages: readonly string[] }[] = [
  { text: 'Start', pages: ['try.md', 'tutorial.md', 'configuration.md'] },
  {
    text: 'Tasks',
    pages: ['tasks.md', 'hidden-tests.md', 'dependencies.md', 'environments.md', 'audit.md'],
  },
  {
    text: 'Results',
    pages: ['results.md', 'compare.md', 'planning.md', 'cost.md', 'canary.md', 'ci.md', 'mcp.md'],
  },
  { text: 'What agents read', pages: ['context.md'] },
  { text: 'Evals in TypeScript', pages: ['evals.md', 'assertions.md'] },
  { text: 'Security', pages: ['security.md'] },
  { text: 'The gateway', pages: ['gateway.md'] },
  {
    text: 'Agents',
    pages: [
      'agents/README.md',
      'adapters.md',
      'agents-matrix.md',
      'agents-failures.md',
      'agents-faults.md',
      'agents/*',
    ],
  },
  { text: 'The loop', pages: ['loop/README.md', 'loop/*'] },
];

/** The sidebar: every written page once, and every page that is made. */
export function sidebar({ commands, config }: MadePages): Group[] {
  const made = (text: string, folder: string, pages: MadePages['commands']): Group => ({
    text,
    collapsed: true,
    items: [{ text: 'All', link: `/${folder}/` }, ...pages.map(({ title, path }) => item(title, path))],
  });
  return [
    ...SECTIONS.map(({ text, pages }) => ({
      text,
      collapsed: pages.length > 8 || pages.some((page) => page.endsWith('*')),
      items: pages
        .flatMap((page) => expanded(page, pages))
        .map((path) => item(titleOf(path), sitePath(path))),
    })),
    {
      text: 'Reference',
      items: [
        item(titleOf('cli.md'), 'cli.md'),
        made('Commands', 'commands', commands),
        made('Keys of whetstone.yaml', 'config', config),
        item(titleOf('errors.md'), 'errors.md'),
        item('What changed', 'changes.md'),
      ],
    },
  ];
}

/** `agents/*` stands for the pages of a folder that have no place of their own. */
function expanded(page: string, others: readonly string[]): string[] {
  if (!page.endsWith('/*')) return [page];
  const folder = page.slice(0, -1);
  return writtenPages().filter((path) => path.startsWith(folder) && !others.includes(path));
}

const item = (text: string, path: string): Item => ({
  text,
  link: `/${path.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '')}`,
});

const titleOf = (path: string): string =>
  /^# (.*)$/m.exec(readFileSync(join(docs, path), 'utf8'))?.[1]?.replaceAll('`', '') ?? path;
