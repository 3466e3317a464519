import { type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { meantPath } from './meant-path.ts';
import { readSourceText, type SourceText } from './source-text.ts';
import type { Spot } from './spot.ts';

/** Resolves a path from the config. Reports it if it does not exist or is not of the wanted kind. */
export function existingPath(
  value: string,
  spot: Spot,
  wanted: 'file' | 'folder' | 'any' = 'any',
): string | undefined {
  const { directory } = spot;
  const absolute = resolve(directory, value);
  const status = statOf(absolute);
  if (!status) {
    const hints = [meantPath(absolute), `relative paths start at ${directory}`];
    spot.error(`does not exist: ${absolute}`, { hint: hints.filter(Boolean).join('\n') });
    return undefined;
  }
  if (wanted !== 'folder' && status.isFile()) return absolute;
  if (wanted !== 'file' && status.isDirectory()) return absolute;
  spot.error(`is not a ${wanted === 'any' ? 'file or folder' : wanted}: ${absolute}`);
  return undefined;
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** Reads a text file that the config names. Reports it if it cannot be read. */
export async function readNamedText(value: string, spot: Spot): Promise<SourceText | undefined> {
  const file = existingPath(value, spot, 'file');
  if (file === undefined) return undefined;
  const read = await readSourceText(file);
  if (read.kind === 'text') return read.source;
  spot.error(`${read.reason}: ${file}`);
  return undefined;
}
