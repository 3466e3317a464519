import { closeSync, openSync, writeFileSync } from 'node:fs';
import type { TreeEdit, Write } from './base-tree.ts';
import type { ObjectFormat } from './git-directory.ts';
import { hashBytes } from './hash-blob.ts';
import type { FileChange } from './workspace.ts';

/** For fewer, git takes little time. */
const LEAST_FILES = 1000;

/** A name that git writes as it is, into every line of a patch. */
const PLAIN_PATH = /^[!#-[\]-~]+$/;

/** Git takes a file for binary that has a NUL among its first bytes (`buffer_is_binary`). */
const LOOKED_AT = 8000;

/** What is less is kept until there is more to write. */
const BATCH_CHARACTERS = 256 * 1024;

/** Whether so many files are new that their part of the patch is better written while they are read. */
export function areMostlyAdded(edits: readonly TreeEdit[]): boolean {
  // With a deletion, a new file may be the other end of a rename.
  return edits.every(({ kind }) => kind === 'write') && edits.filter(isNew).length >= LEAST_FILES;
}

const isNew = (edit: TreeEdit): boolean => edit.kind === 'write' && edit.oid === undefined;

/** The part of a patch with the plain new files, byte for byte as git writes it. */
export type Additions = Disposable & {
  readonly files: readonly FileChange[];
  readonly patchBytes: number;
  /** Adds a file with its content; `false`: it has to be left to git. */
  take(edit: Write, content: Buffer): boolean;
  /** Writes what is left to write. */
  end(): void;
};

/** Writes the additions that it takes to `patchFile`, in the order in which they come. */
export function writeAdditions(patchFile: string, format: ObjectFormat): Additions {
  const descriptor = openSync(patchFile, 'w', 0o600);
  const files: FileChange[] = [];
  const nothing = '0'.repeat(format === 'sha256' ? 64 : 40);
  let patchBytes = 0;
  let pending = '';

  function flush(): void {
    writeFileSync(descriptor, pending, 'latin1');
    pending = '';
  }

  return {
    files,
    get patchBytes() {
      return patchBytes;
    },
    take(edit, content) {
      const { path, mode } = edit;
      if (!isNew(edit) || mode === '120000' || !PLAIN_PATH.test(path)) return false;
      const text = content.toString('latin1');
      const nul = text.indexOf('\0');
      if (nul !== -1 && nul < LOOKED_AT) return false;
      const oid = hashBytes(content, format);
      const lines = countLines(text);
      const part = `diff --git a/${path} b/${path}\nnew file mode ${mode}\nindex ${nothing}..${oid}\n${addedLines(path, text, lines)}`;
      patchBytes += part.length;
      pending += part;
      if (pending.length >= BATCH_CHARACTERS) flush();
      const counts = { binary: false, insertions: lines, deletions: 0 };
      files.push({ path, bytes: path, change: 'added', mode, oid, ...counts });
      return true;
    },
    end: flush,
    [Symbol.dispose]: () => closeSync(descriptor),
  };
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return text === '' || text.endsWith('\n') ? lines : lines + 1;
}

function addedLines(path: string, text: string, lines: number): string {
  if (text === '') return '';
  const isWhole = text.endsWith('\n');
  const whole = isWhole ? text.slice(0, -1) : text;
  const end = isWhole ? '\n' : '\n\\ No newline at end of file\n';
  const count = lines === 1 ? '1' : `1,${lines}`;
  return `--- /dev/null\n+++ b/${path}\n@@ -0,0 +${count} @@\n+${whole.replaceAll('\n', '\n+')}${end}`;
}
