import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { typescriptSources } from '@whetstone/agents/config';

/** Import and re-export declarations, and imports at run time, as far as they name their file in a literal. */
const IMPORT = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*(['"])(?<specifier>\.{1,2}\/[^'"\n]+)\1/g;

/**
 * sha256 over a module and all that it imports by relative paths, by content and by path relative to the module:
 * hexadecimal. Comments count, packages do not. What a module reads in another way is not seen.
 */
export async function hashModule(file: string): Promise<string> {
  const contents = await readModule(file);
  const hash = createHash('sha256');
  for (const path of [...contents.keys()].sort()) {
    hash.update(JSON.stringify([relative(dirname(file), path), contents.get(path)]));
  }
  return hash.digest('hex');
}

/** The text of a module and of all that it imports by relative paths, by absolute path. */
export async function readModule(file: string): Promise<ReadonlyMap<string, string>> {
  const contents = new Map<string, string>();
  await collect(file, contents);
  return contents;
}

async function collect(file: string, contents: Map<string, string>): Promise<void> {
  if (contents.has(file)) return;
  const text = await readFile(file, 'utf8');
  contents.set(file, text);
  for (const { groups } of text.matchAll(IMPORT)) {
    const specifier = groups?.specifier ?? '';
    // Text that only looks like an import names no file.
    for (const candidate of [specifier, ...typescriptSources(specifier)]) {
      const path = resolve(dirname(file), candidate);
      if (!(await isFile(path))) continue;
      await collect(path, contents);
      break;
    }
  }
}

const isFile = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isFile() === true;
