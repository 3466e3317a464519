import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/**
 * Links of built pages to headings that their target does not have: `page.html: target.html#anchor`. `base`: where the folder is
 * served, default `/`.
 */
export function deadAnchors(folder: string, base = '/'): string[] {
  const pages = new Map(
    globSync('**/*.html', { cwd: folder }).map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
  );
  const ids = new Map(
    [...pages].map(([path, html]) => [
      path,
      new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id)),
    ]),
  );
  return [...pages].flatMap(([page, html]) =>
    [...html.matchAll(/ href="(?![a-z]+:|\/\/)([^"#?]*)#([^"]+)"/g)].flatMap(
      ([, target = '', anchor = '']) => {
        const path =
          target === ''
            ? page
            : target.startsWith('/')
              ? target.slice(target.startsWith(base) ? base.length : 1)
              : posix.join(posix.dirname(page), target);
        const file = path === '' || path.endsWith('/') ? `${path}index.html` : path;
        return ids.get(file)?.has(decodeURIComponent(anchor)) ? [] : [`${page}: ${file}#${anchor}`];
      },
    ),
  );
}
