import { type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Reporter } from './reporter.ts';
import { readSourceText, type SourceText } from './source-text.ts';
import type { YamlPath } from './yaml-source.ts';

/** What reading a part of a config needs: where relative paths start, and where to report problems. */
export type ReadContext = {
  /** Folder of the file that is read: its paths are relative to it. */
  directory: string;
  report: Reporter;
};

/** Resolves a path from the config. Reports it if it does not exist or is not of the wanted kind. */
export function existingPath(
  value: string,
  path: YamlPath,
  { directory, report }: ReadContext,
  wanted: 'file' | 'folder' | 'any' = 'any',
): string | undefined {
  const absolute = resolve(directory, value);
  const status = statOf(absolute);
  if (!status) {
    report.error(path, `does not exist: ${absolute}`, { hint: `relative paths start at ${directory}` });
    return undefined;
  }
  if (wanted !== 'folder' && status.isFile()) return absolute;
  if (wanted !== 'file' && status.isDirectory()) return absolute;
  report.error(path, `is not a ${wanted === 'any' ? 'file or folder' : wanted}: ${absolute}`);
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
export async function readNamedText(
  value: string,
  path: YamlPath,
  context: ReadContext,
): Promise<SourceText | undefined> {
  const file = existingPath(value, path, context, 'file');
  if (file === undefined) return undefined;
  const read = await readSourceText(file);
  if (read.kind === 'text') return read.source;
  context.report.error(path, `${read.reason}: ${file}`);
  return undefined;
}
