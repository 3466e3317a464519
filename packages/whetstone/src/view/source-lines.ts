import type { SourceLines } from './api.ts';
import { type RecordedCase, readCaseFile } from './case-files.ts';

const PATCH_BYTES = 16 * 1024 * 1024;
const FILE_BYTES = 4 * 1024 * 1024;
/** Of a line. */
const MOST_CHARACTERS = 400;
const AROUND = 3;

/**
 * The lines around one of a file as the agent left it: as the patch of the case makes it, else as the commit has it. `undefined`: there is
 * no such line that can be shown, as of a hidden test.
 */
export async function sourceLines(
  recorded: RecordedCase,
  repo: string,
  commit: string,
  { path, line }: { path: string; line: number },
): Promise<SourceLines | undefined> {
  const text = await textOf(recorded, repo, commit, path);
  const lines = text?.split('\n') ?? [];
  if (!Number.isInteger(line) || line < 1 || line > lines.length) return undefined;
  const first = Math.max(1, line - AROUND);
  const shown = lines.slice(first - 1, line + AROUND);
  return { path, line, first, lines: shown.map((one) => one.slice(0, MOST_CHARACTERS).toWellFormed()) };
}

async function textOf(
  recorded: RecordedCase,
  repo: string,
  commit: string,
  path: string,
): Promise<string | undefined> {
  const { committedText, storedChanges, storedContent } = await import('../run/stored-content.ts');
  const patch = await readCaseFile(recorded, 'patch', PATCH_BYTES);
  const change = storedChanges(patch?.head ?? '').find((one) => one.path === path);
  return change === undefined
    ? committedText(repo, commit, path, FILE_BYTES)
    : storedContent(repo, change, 'after').catch(() => undefined);
}
