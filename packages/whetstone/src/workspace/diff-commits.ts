import { closeSync, openSync, writeFileSync } from 'node:fs';
import { streamGit } from './git.ts';
import { displayPath } from './tree-path.ts';
import type { FileChange, TreeEntry } from './workspace.ts';

/** `-l`: renames are searched while added files × deleted files is at most the square of this, the default of git. */
const DIFF = [
  'diff-tree -r -z --raw --numstat --patch --binary --full-index --abbrev=64 -M -l1000 --no-ext-diff',
  '--no-textconv --no-color --no-relative --src-prefix=a/ --dst-prefix=b/ --diff-algorithm=myers',
  '--unified=3 -O/dev/null',
].flatMap((options) => options.split(' '));

/** The changes between two commits of `gitDir`. Their patch is streamed from the same git process to the end of `patchFile`. */
export async function diffCommits(options: {
  gitDir: string;
  from: string;
  to: string;
  patchFile: string;
}): Promise<{ files: FileChange[]; patchBytes: number }> {
  return streamGit([...DIFF, options.from, options.to], { gitDir: options.gitDir }, async (output) => {
    const patch = openSync(options.patchFile, 'a', 0o600);
    const summary = new SummaryReader();
    let patchBytes = 0;
    try {
      for await (const chunk of output) {
        const rest = summary.push(chunk);
        writeFileSync(patch, rest);
        patchBytes += rest.length;
      }
    } finally {
      closeSync(patch);
    }
    return { files: summary.changes(), patchBytes };
  });
}

type RawRecord = {
  mode: string;
  oidBefore: string;
  oid: string;
  status: string;
  path: string;
  from?: string;
};
type Counts = { binary: boolean; insertions: number; deletions: number };

/**
 * Reads the fields before the patch: per file a record of `:modes oids status` and the path(s); then per file a record
 * of counts and path(s); then an empty field ("diff-format" in git's documentation, with `-z`).
 */
class SummaryReader {
  readonly #raw: RawRecord[] = [];
  readonly #counts: Counts[] = [];
  #fields: string[] = [];
  #pending = '';
  #ended = false;

  /** Takes a chunk of output and returns the part of it that belongs to the patch. */
  push(chunk: Buffer): Buffer {
    if (this.#ended) return chunk;
    let start = 0;
    while (!this.#ended) {
      const end = chunk.indexOf(0, start);
      if (end === -1) {
        this.#pending += chunk.toString('latin1', start);
        return Buffer.alloc(0);
      }
      this.#field(this.#pending + chunk.toString('latin1', start, end));
      this.#pending = '';
      start = end + 1;
    }
    return chunk.subarray(start);
  }

  changes(): FileChange[] {
    return this.#raw.map((record, index) => {
      const counts = this.#counts[index];
      if (!counts) throw new Error('git printed fewer counts than files');
      return describe(record, counts);
    });
  }

  #field(field: string): void {
    if (field === '' && this.#fields.length === 0) {
      this.#ended = true;
      return;
    }
    this.#fields.push(field);
    const record = readRaw(this.#fields);
    const counts = record ?? readCounts(this.#fields);
    if (counts === undefined) return;
    if (record) this.#raw.push(record);
    else this.#counts.push(counts as Counts);
    this.#fields = [];
  }
}

function readRaw(fields: string[]): RawRecord | undefined {
  const [head = '', first, second] = fields;
  const match = /^:\d+ (\d+) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*$/.exec(head);
  if (!match || first === undefined) return undefined;
  const [, mode = '', oidBefore = '', oid = '', status = ''] = match;
  if (status !== 'R') return { mode, oidBefore, oid, status, path: first };
  return second === undefined ? undefined : { mode, oidBefore, oid, status, path: second, from: first };
}

function readCounts(fields: string[]): Counts | undefined {
  const match = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(fields[0] ?? '');
  if (!match) return undefined;
  // The two paths of a rename are separate fields.
  if (match[3] === '' && fields.length < 3) return undefined;
  const binary = match[1] === '-';
  return { binary, insertions: binary ? 0 : Number(match[1]), deletions: binary ? 0 : Number(match[2]) };
}

function describe(record: RawRecord, counts: Counts): FileChange {
  return {
    path: displayPath(record.path),
    bytes: record.path,
    change: changeOf(record),
    ...(record.from === undefined ? {} : { from: displayPath(record.from), fromBytes: record.from }),
    ...(record.status === 'D' ? {} : { mode: record.mode as TreeEntry['mode'], oid: record.oid }),
    ...counts,
  };
}

function changeOf({ status, oid, oidBefore }: RawRecord): FileChange['change'] {
  if (status === 'A') return 'added';
  if (status === 'D') return 'deleted';
  if (status === 'R') return 'renamed';
  return status === 'M' && oid === oidBefore ? 'mode' : 'modified';
}
