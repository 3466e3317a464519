import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { type FolderServer, serveFolder } from './serve-folder.ts';

/** The built site: in the installed package, else in the clone that built it. */
const PLACES = ['../docs-static/', '../../../../.whetstone/site/dist/'];

/**
 * Serves the documentation of this version on loopback. `port`: default 0, any free port.
 * @throws WhetstoneError `docs-missing`, `view-port-unavailable`
 */
export async function serveDocs(port?: number): Promise<FolderServer> {
  const places = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const folder = places.find((place) => existsSync(`${place}index.html`));
  if (folder === undefined) {
    throw new WhetstoneError('docs-missing', 'The documentation is not part of this installation.', {
      where: places[0] ?? '',
      hint: 'In a clone, build it first: npm run docs',
    });
  }
  return serveFolder(folder, present({ port }));
}
