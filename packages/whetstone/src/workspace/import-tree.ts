import { readlinkSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { TreeEdit, Write } from './base-tree.ts';
import type { Additions } from './diff-additions.ts';
import { git } from './git.ts';
import { formatOf, quotePath } from './git-directory.ts';
import { openPlainFile, readSmallFile } from './hash-blob.ts';
import { writeLooseObject } from './loose-object.ts';
import { takeTurns } from './take-turns.ts';
import { absolutePath, type FilePath } from './tree-path.ts';

/** The tree that the edits change: that of a commit, which becomes the parent, or a tree without history. */
export type ImportStart = { parent: string } | { tree: string };

const SOMEONE = 'Developer <developer@localhost>';
/** 2024-01-01 for every workspace, because a real date would show when and in which order cases were made. */
const SOME_TIME = '1704067200 +0000';

/** Ends with the end of its line, as Git's messages do. */
const MESSAGE = 'Initial commit\n';

/** What is less than this is not compressed, which takes git half of its time for small files. */
const COMPRESSED_BYTES = 64 * 2 ** 20;

type Import = {
  start: ImportStart;
  root: string;
  upper?: string;
  edits: readonly TreeEdit[];
  bytes?: number;
  additions?: Additions;
  ref: string;
};

/**
 * Commits `start` with `edits`, read from the tree at `root`. Identity, date and message are always the same. `upper`: the upper
 * layer of the mount at `root`, where most files are read in half the time. `bytes`: how much there is to read; default: much.
 * `additions` gets each small file as it is read. Resolves with the commit, and with the one that has only what `additions`
 * took: the same, where it took everything.
 */
export async function importTree(gitDir: string, change: Import): Promise<{ commit: string; added: string }> {
  const { bytes = COMPRESSED_BYTES } = change;
  const settings = [
    ...['-c', 'fastimport.unpackLimit=0', '-c', 'core.bigFileThreshold=16m'],
    ...(bytes < COMPRESSED_BYTES ? ['-c', 'pack.compression=0'] : []),
  ];
  const input = Readable.from(importStream(change), { objectMode: false });
  const output = await git([...settings, 'fast-import', '--quiet', '--done', '--force'], { gitDir, input });
  const [added = '', commit = added] = output.toString().trim().split('\n');
  return { commit, added };
}

async function* importStream(change: Import): AsyncGenerator<Buffer> {
  const { start, additions, edits, ref } = change;
  const from = 'parent' in start ? `from ${start.parent}\n` : '';
  const tree = 'tree' in start ? `M 040000 ${start.tree} ""\n` : '';
  // Deletions come first, because a file must be removed before a folder with its name can be filled.
  const deletions = edits.filter((edit) => edit.kind === 'delete');
  const removed = deletions.map(({ path }) => `D ${quotePath(path)}\n`).join('');
  yield Buffer.from(`feature done\n${commitHead(ref, 1)}${from}${tree}${removed}`);
  const left: Write[] = [];
  const writes = edits.filter((edit) => edit.kind === 'write');
  yield* writtenFiles(change, writes, (edit, content) => {
    if (additions === undefined || (content && additions.take(edit, content))) return true;
    left.push(edit);
    return false;
  });
  additions?.end();
  if (left.length > 0) {
    yield Buffer.from(`\n${commitHead(ref, 2)}from :1\n`);
    yield* writtenFiles(change, left, () => true);
  }
  yield Buffer.from(`\nget-mark :1\n${left.length > 0 ? 'get-mark :2\n' : ''}done\n`);
}

const PEOPLE = `author ${SOMEONE} ${SOME_TIME}\ncommitter ${SOMEONE} ${SOME_TIME}\n`;

const commitHead = (ref: string, mark: number): string =>
  `commit ${ref}\nmark :${mark}\n${PEOPLE}data ${MESSAGE.length}\n${MESSAGE}\n`;

/** Commits a tree as it is: the same commit as that of `importTree` without edits, but Git is not started for it. */
export function commitTree(gitDir: string, tree: string): string {
  const content = `tree ${tree}\n${PEOPLE}\n${MESSAGE}`;
  return writeLooseObject(gitDir, { type: 'commit', content }, formatOf(tree));
}

/** The lines of each entry that `accepts` wants. It gets the content too, except of a large file. */
async function* writtenFiles(
  { root, upper }: Import,
  edits: readonly Write[],
  accepts: (edit: Write, content: Buffer | undefined) => boolean,
): AsyncGenerator<Buffer> {
  const turn = takeTurns();
  // Git gets small files together, because each piece of a stream costs more than its bytes.
  let pieces: Buffer[] = [];
  let bytes = 0;
  for (const edit of edits) {
    await turn();
    const absolute = absolutePath(root, edit.path);
    const head = `M ${edit.mode} inline ${quotePath(edit.path)}\ndata `;
    const content =
      edit.mode === '120000'
        ? readlinkSync(absolute, { encoding: 'buffer' })
        : (readIn(upper, edit) ?? readSmallFile(absolute, edit.size));
    if (!accepts(edit, content)) continue;
    if (content) {
      pieces.push(Buffer.from(`${head}${content.length}\n`), content, NEWLINE);
      bytes += content.length;
      if (bytes < BATCH_BYTES && pieces.length < BATCH_PIECES) continue;
    }
    yield Buffer.concat(pieces);
    pieces = [];
    bytes = 0;
    if (!content) yield* largeFile(head, absolute);
  }
  yield Buffer.concat(pieces);
}

/** A layer has all of a file or nothing of it: no mount of ours has `metacopy`. */
function readIn(layer: string | undefined, { path, size }: Write): Buffer | undefined {
  if (layer === undefined) return undefined;
  try {
    return readSmallFile(absolutePath(layer, path), size);
  } catch {
    return undefined;
  }
}

const BATCH_BYTES = 256 * 1024;
const BATCH_PIECES = 3_000;

async function* largeFile(head: string, absolute: FilePath): AsyncGenerator<Buffer> {
  using file = openPlainFile(absolute);
  yield Buffer.from(`${head}${file.size}\n`);
  // The stream keeps a chunk longer than until the next read, so it gets a copy.
  for await (const chunk of file.chunks()) yield Buffer.from(chunk);
  yield NEWLINE;
}

const NEWLINE = Buffer.from('\n');
