import { existsSync, globSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WhetstoneError } from '@whetstone/errors';

export type PageFile = { path: string; contentType: string };

/** The folder with the files of the page: in the installed package, else in the repository. */
const PLACES = ['../view-static/', '../../../view/src/'];

/** What the page takes from other packages, by the name that it has there. A packed page has them in its folder. */
const VENDORED = {
  'vendor/highlight.js': '@highlightjs/cdn-assets/es/highlight.min.js',
  'vendor/inter.woff2': '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
  'vendor/jetbrains-mono.woff2':
    '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2',
};

/** Its one file for browsers, which the exports of the package leave out. */
const DIFF = 'diff';

const CONTENT_TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.woff2': 'font/woff2',
};

/**
 * The files of the web page by name, such as `run/run-page.js`.
 * @throws WhetstoneError `view-files-missing`
 */
export function pageFiles(): ReadonlyMap<string, PageFile> {
  const folder = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((one) =>
    existsSync(`${one}index.html`),
  );
  if (folder === undefined) {
    const message = 'The files of the web page are not part of this installation.';
    const where = fileURLToPath(new URL('../', import.meta.url));
    throw new WhetstoneError('view-files-missing', message, { where });
  }
  const own = globSync('**/*.{html,css,js,woff2}', { cwd: folder, exclude: ['__fixtures__'] }).map(
    (name): [string, string] => [name.replaceAll(sep, '/'), folder + name],
  );
  return new Map(
    [...Object.entries(vendored()), ...own].map(([name, path]) => [
      name,
      { path, contentType: CONTENT_TYPES[extname(name)] ?? '' },
    ]),
  );
}

/** Empty in the installed package, whose page has its own copies. */
function vendored(): Record<string, string> {
  const { resolve } = createRequire(new URL('../../../view/package.json', import.meta.url));
  const pathOf = (specifier: string) =>
    specifier === DIFF ? join(dirname(resolve('diff/package.json')), 'dist/diff.min.js') : resolve(specifier);
  return Object.fromEntries(
    Object.entries({ ...VENDORED, 'vendor/diff.js': DIFF }).flatMap(([name, specifier]) => {
      try {
        return [[name, pathOf(specifier)]];
      } catch {
        return [];
      }
    }),
  );
}
