import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import type { ObjectFormat } from './git-directory.ts';

/** A small object of Git. The content is ASCII. */
export type LooseObject = { type: 'tree' | 'commit'; content: string };

export function objectId(object: LooseObject, format: ObjectFormat): string {
  return createHash(format).update(encode(object)).digest('hex');
}

/** Writes an object to a git directory of our own, without starting Git, and returns its id. */
export function writeLooseObject(gitDir: string, object: LooseObject, format: ObjectFormat): string {
  const id = objectId(object, format);
  const folder = join(gitDir, 'objects', id.slice(0, 2));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, id.slice(2)), deflateSync(encode(object)));
  return id;
}

const encode = ({ type, content }: LooseObject): string => `${type} ${content.length}\0${content}`;
