import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** What an image is made of. `context`: a folder, absolute. `dockerfile`: a path in it. */
export type ImageBuild = { context: string; dockerfile: string };

/**
 * The name of the image that is made of this: the same content has the same name, so that it is built once. Everything in the
 * folder counts, also what a `.dockerignore` leaves out.
 */
export function nameOfBuild({ context, dockerfile }: ImageBuild): string {
  const hash = createHash('sha256').update(dockerfile);
  addFolder(hash, context, '');
  return `whetstone-build:${hash.digest('hex').slice(0, 32)}`;
}

type Hash = ReturnType<typeof createHash>;

function addFolder(hash: Hash, context: string, below: string): void {
  const folder = join(context, below);
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    const stat = lstatSync(path);
    const kind = stat.isDirectory() ? 'folder' : stat.isSymbolicLink() ? 'link' : 'file';
    hash.update(`\0${kind}\0${join(below, name)}\0${stat.mode & 0o777}\0`);
    if (kind === 'folder') addFolder(hash, context, join(below, name));
    else hash.update(contentOf(path, kind));
  }
}

/** With its length, so that no content can look like the next entry. */
function contentOf(path: string, kind: 'link' | 'file'): string {
  const bytes = kind === 'link' ? Buffer.from(readlinkSync(path)) : readFileSync(path);
  return `${bytes.length}\0${createHash('sha256').update(bytes).digest('hex')}`;
}
