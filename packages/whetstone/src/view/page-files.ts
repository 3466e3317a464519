import { existsSync, readdirSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WhetstoneError } from '@whetstone/errors';

export type ViewFile = { path: string; contentType: string };

/** The folder with the files of the page: in the installed package, else in the repository. */
const PLACES = ['../view-static/', '../../../view/src/'];

const CONTENT_TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

/** The files of the web page by name. Only these are served. */
export function viewFiles(): ReadonlyMap<string, ViewFile> {
  const folder = PLACES.map((place) => new URL(place, import.meta.url)).find((url) =>
    existsSync(new URL('index.html', url)),
  );
  if (folder === undefined) {
    const message = 'The files of the web page are not part of this installation.';
    const where = fileURLToPath(new URL('../', import.meta.url));
    throw new WhetstoneError('view-files-missing', message, { where });
  }
  return new Map(
    readdirSync(folder).flatMap((name): [string, ViewFile][] => {
      const contentType = CONTENT_TYPES[extname(name)];
      return contentType === undefined
        ? []
        : [[name, { path: fileURLToPath(new URL(name, folder)), contentType }]];
    }),
  );
}
