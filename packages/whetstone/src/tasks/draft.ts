import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { present } from '@whetstone/events/present';
import type { TaskTests } from '../config/config.ts';
import { git } from '../workspace/git.ts';
import { readBlobs } from '../workspace/read-blobs.ts';
import { type FoundRunner, findRunner } from './find-runner.ts';
import type { Method } from './methods.ts';
import type { HistoryCommit } from './scan-history.ts';
import { type StartFile, writeStartFile } from './start-file.ts';

/** A task that is not validated yet: where it starts, what solves it, and how that is seen. */
export type Draft = {
  /** The id of the task. */
  id: string;
  method: Method;
  /** What it was made of, in a line. */
  subject: string;
  /** The commit that the answer is taken from. `date`: ISO 8601. */
  commit: string;
  date: string;
  /** The commit that the task starts from. */
  base: string;
  /** What the tree has otherwise than the base. */
  start: StartFile[];
  /** The tests as they were before the work, where the base already has those of `testFiles`. */
  earlierTests: StartFile[];
  tests: Omit<TaskTests, 'mustPass'>;
  /** The test files that show the work, and what they need. */
  testFiles: FileContent[];
  /** What leads from the start to the answer, for `git apply --binary`; bytes as a latin1 string. */
  goldPatch: string;
  /** What was taken out of the tree, with its place, for a statement. No other draft of the same commit has the same. */
  missing?: string;
  /** The commit whose tree is the solution, if it is that of other drafts as well. */
  solved?: string;
  /** The source files that the answer changes. `lines`: added and deleted; `null` where the file is binary. */
  sources: { path: string; lines: number | null }[];
};

/** A file of a commit. */
export type FileContent = { path: string; content: Buffer; executable: boolean };

/** The regular files of a commit, or those of them at `paths`. */
export async function filesAt(
  gitDir: string,
  commit: string,
  paths: readonly string[] = [],
  isWanted: (path: string) => boolean = () => true,
): Promise<Map<string, FileContent>> {
  const tree = ['ls-tree', '-r', '-z', '--full-tree', '--end-of-options', commit];
  const listing = ['--literal-pathspecs', ...tree, ...paths];
  const entries = (await git(listing, { gitDir })).toString().split('\0').filter(Boolean);
  const wanted = entries.flatMap((entry) => {
    const [facts = '', path = ''] = entry.split('\t');
    const [mode = '', , oid = ''] = facts.split(' ');
    return mode.startsWith('100') && isWanted(path) ? [{ path, oid, executable: mode === '100755' }] : [];
  });
  const files = new Map<string, FileContent>();
  const oids = wanted.map(({ oid }) => oid);
  await readBlobs(gitDir, oids, async (content, index) => {
    const { path = '', executable = false } = wanted[index] ?? {};
    files.set(path, { path, executable, content: Buffer.concat(await Array.fromAsync(content)) });
  });
  return files;
}

/** How the test files run at a commit. A text: why they cannot. */
export async function testsAt(
  gitDir: string,
  commit: string,
  files: readonly string[],
): Promise<Draft['tests'] | string> {
  const read = (path: string) =>
    git(['cat-file', 'blob', `${commit}:${path}`], { gitDir }).then(String, () => undefined);
  const found: FoundRunner | string = await findRunner(files, read);
  if (typeof found === 'string') return found;
  const { runner, options, directory } = found;
  return { runner, options, files: [...files], ...present({ directory }) };
}

/** The patch that makes `answer` of what `start` says. Both name the same paths. */
export async function patchBetween(
  start: readonly StartFile[],
  answer: readonly StartFile[],
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'whetstone-patch-'));
  try {
    for (const file of start) await writeStartFile(join(folder, 'a'), file);
    for (const file of answer) await writeStartFile(join(folder, 'b'), file);
    return await patchOfFolders(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The patch that makes the folder `b` of the folder `a`, both in `folder`; bytes as a latin1 string. */
export async function patchOfFolders(folder: string): Promise<string> {
  const shape = ['--no-index', '--no-prefix', '--binary', '--full-index', '--no-renames', '--no-color'];
  const args = ['diff', ...shape, '--no-ext-diff', '--no-textconv', 'a', 'b'];
  return (await git(args, { cwd: folder, accepts: [1] })).toString('latin1');
}

/** A name for a task: a few words of the subject, and the beginning of an id. */
export function taskIdOf(subject: string, id: string, ...before: string[]): string {
  const words =
    subject
      .toLowerCase()
      .replace(/\(#\d+\)|#\d+/g, '')
      .match(/[a-z0-9]+/g) ?? [];
  return [...before, ...words.slice(0, 6), id.slice(0, 8)].join('-');
}

export const subjectOf = ({ message }: HistoryCommit): string => message.split('\n', 1)[0] ?? '';
