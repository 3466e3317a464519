import { isJsonObject, parseJson } from '@whetstone/events/json';
import type { SearchHit, SearchQuery, SkippedFile } from './text-search.ts';

/** The matches and their context, from the output of `--json`: one object per line, whatever stands in names and texts. */
export function parseContent(stdout: string, { onlyMatching = false }: SearchQuery): SearchHit[] {
  return stdout.split('\n').flatMap((row): SearchHit[] => {
    const event = parseJson(row);
    if (!isJsonObject(event) || !isJsonObject(event.data)) return [];
    const { path: name, lines, line_number: first, submatches } = event.data;
    if ((event.type !== 'match' && event.type !== 'context') || typeof first !== 'number') return [];
    const path = relative(decode(name).toString());
    const bytes = decode(lines);
    if (onlyMatching && Array.isArray(submatches)) {
      return submatches.flatMap((submatch) => {
        if (!isJsonObject(submatch) || typeof submatch.start !== 'number') return [];
        const line = first + bytes.toString('latin1', 0, submatch.start).split('\n').length - 1;
        return rows(path, line, decode(submatch.match)).filter(({ text }) => text !== '');
      });
    }
    const hits = rows(path, first, bytes);
    return event.type === 'context' ? hits.map((hit) => ({ ...hit, context: true as const })) : hits;
  });
}

/** A match may span lines. */
function rows(path: string, first: number, bytes: Buffer): SearchHit[] {
  const text = bytes.toString().replace(/\r?\n$/, '');
  return text.split(/\r?\n/).map((line, index) => ({ path, line: first + index, text: line }));
}

/** Names and texts that are not UTF-8 come in base64. */
function decode(value: unknown): Buffer {
  if (!isJsonObject(value)) return Buffer.alloc(0);
  if (typeof value.text === 'string') return Buffer.from(value.text);
  return Buffer.from(typeof value.bytes === 'string' ? value.bytes : '', 'base64');
}

/** `path NUL path NUL …` */
export function parsePaths(stdout: string): SearchHit[] {
  return stdout.split('\0').flatMap((path) => (path === '' ? [] : [{ path: relative(path) }]));
}

/** `path NUL count CR LF …`; a path may have line feeds itself. */
export function parseCounts(stdout: string): SearchHit[] {
  return [...stdout.matchAll(/([^\0]+)\0(\d+)\r?\n/g)].map(([, path = '', count]) => ({
    path: relative(path),
    count: Number(count),
  }));
}

/** `rg: ./path: reason`, for each file that could not be read or searched. */
export function parseSkipped(stderr: string): SkippedFile[] {
  return [...stderr.matchAll(/^rg: (?!No files were searched)(.+?): (.+)$/gm)].map(
    ([, path = '', reason = '']) => ({
      path: relative(path),
      reason: reason.replace(/ \(os error \d+\)$/, ''),
    }),
  );
}

function relative(path: string): string {
  return path.replace(/^\.[\\/]/, '').replaceAll('\\', process.platform === 'win32' ? '/' : '\\');
}
