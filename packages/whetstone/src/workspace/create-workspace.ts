import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { present } from '@whetstone/events/present';
import { ownerOf } from '@whetstone/sandbox';
import { applyEdits, type BaseTree, baseTree } from './base-tree.ts';
import type { CaseDisk, CaseDisks } from './case-disk.ts';
import { mergeFolder } from './copy-into-tree.ts';
import { type Additions, areMostlyAdded, writeAdditions } from './diff-additions.ts';
import { diffCommits } from './diff-commits.ts';
import { entryWriter, type NewEntry, pruneFolders, removeEntry, writeEntry } from './edit-tree.ts';
import { makeGitDirectory } from './git-directory.ts';
import { readHashed } from './hash-blob.ts';
import { importTree } from './import-tree.ts';
import { lendFolders } from './lend-folders.ts';
import type { PlacedTree, Placement } from './placement.ts';
import { readBlobs } from './read-blobs.ts';
import { replaceTree } from './replace-tree.ts';
import { byBytes, type ChangeLimits, type Scan, type ScanOptions, scanTree } from './scan-tree.ts';
import { type PreparedSnapshot, scanTarget } from './snapshot.ts';
import { takeTurns } from './take-turns.ts';
import { touchedBelow } from './touched-below.ts';
import { absolutePath, assertInsideTree, displayPath, pathBytes } from './tree-path.ts';
import type { Changes, FileChange, Lend, Lent, TreeEntry, Workspace } from './workspace.ts';

/** Git cannot compare files of 2 GiB, and what one case leaves must not fill the disk of the others. */
const CHANGE_LIMITS: ChangeLimits = { fileBytes: 2 ** 30, bytes: 2 ** 31, paths: 250_000 };

/** Makes one disposable tree in `home`, with host data in `backstage`. Neither exists yet. `guarded` wraps writes. */
export async function createWorkspace(options: {
  snapshot: PreparedSnapshot;
  placement: Placement;
  /** Absent: nothing limits what it takes of the disk. */
  disks: CaseDisks | undefined;
  leastLent: number;
  home: string;
  backstage: string;
  guarded: <T>(work: () => Promise<T>) => Promise<T>;
  onDispose: () => void;
}): Promise<Workspace> {
  const { snapshot, home, backstage, guarded } = options;
  let placed: PlacedTree | undefined;
  let placedHome: PlacedTree | undefined;
  let disk: CaseDisk | undefined;

  async function remove(): Promise<void> {
    const trees = [placedHome, placed].filter((tree) => tree !== undefined);
    await options.placement.remove([home, backstage], trees, disk);
    [placed, placedHome, disk] = [undefined, undefined, undefined];
  }

  try {
    mkdirSync(home, { mode: 0o700 });
    mkdirSync(backstage, { mode: 0o700 });
    disk = await options.disks?.open(home, backstage);
    const backing = disk?.hidden ?? backstage;
    placed = await options.placement.place(snapshot.layers, join(home, 'repo'), join(backing, 'backing'));
    const owner = ownerOf(placed.path);
    if (owner) chownSync(home, owner.uid, owner.gid);
    if (snapshot.homeLayer !== undefined) {
      const layers = [snapshot.homeLayer];
      placedHome = await options.placement.place(layers, join(home, 'home'), join(backing, 'home'));
    }
  } catch (error) {
    await remove();
    throw error;
  }
  const { environment } = snapshot;
  const tree = placed;
  const { root, layers } = scanTarget(tree);
  /** A layer with folders of changes that are not in the upper one. */
  let lent: string | undefined;
  const contents = join(backstage, 'git');
  let base: Base = { commit: snapshot.sealedCommit, tree: snapshot.base, unportable: new Set() };
  let contentsMade = false;
  let serial = 0;
  let recording: Promise<unknown> = Promise.resolve();
  let disposed: Promise<void> | undefined;

  async function scan(options?: Pick<ScanOptions, 'limits' | 'leavesNewUnread'>): Promise<Scan> {
    const found = await scanTree({
      ...{ root, base: base.tree, format: snapshot.format },
      ...(layers && { layers: { ...layers, ...present({ lent }) } }),
      ...(environment && { leftOut: environment.roots }),
      ...options,
    });
    return { ...found, unportable: found.unportable.filter((path) => !base.unportable.has(path)) };
  }

  function openContents(): string {
    if (!contentsMade) {
      makeGitDirectory(contents, { format: snapshot.format, alternates: [snapshot.objects] });
      contentsMade = true;
    }
    return contents;
  }

  function nextName(): string {
    serial += 1;
    return `state-${serial}`;
  }

  /** Commits the present tree, with the base as its parent. One after the other: equal trees make one pack, by one git. */
  function record({ edits, bytes }: Scan, additions?: Additions): ReturnType<typeof importTree> {
    const gitDir = openContents();
    const ref = `refs/heads/${nextName()}`;
    const recorded = recording.then(() =>
      importTree(gitDir, {
        ...{ start: { parent: base.commit }, root, edits, bytes, ref },
        ...present({ upper: layers?.upper, additions }),
      }),
    );
    recording = recorded.catch(() => undefined);
    return recorded;
  }

  async function changes({ lends = false } = {}): Promise<Changes> {
    const readAt = Date.now();
    // Git reads the new files, and says their ids.
    const found = await scan({ limits: CHANGE_LIMITS, leavesNewUnread: true });
    const patchFile = join(backstage, `${nextName()}.patch`);
    const { files, patchBytes } = await diff(found, patchFile);
    return {
      files,
      insertions: files.reduce((sum, file) => sum + file.insertions, 0),
      deletions: files.reduce((sum, file) => sum + file.deletions, 0),
      patchFile,
      patchBytes,
      tree: root,
      ...(lends && present({ lend: lendFrom(readAt) })),
      contents,
      unportable: found.unportable.map(displayPath),
      ...(environment && {
        environment: layers ? touchedBelow(layers.upper, environment.roots).map(displayPath) : null,
      }),
    };
  }

  function lendFrom(readAt: number): Lend | undefined {
    return lendFolders({
      ...{ placed: tree, layers: snapshot.layers, readAt, least: options.leastLent },
      onLent(folder) {
        lent = folder;
      },
    });
  }

  /** Lays what is lent below the tree. Resolves with nothing where it has to be copied. */
  async function borrow(lend: Lend | undefined, written: readonly NewEntry[]): Promise<Lent | undefined> {
    const found = lent === undefined && tree.mountAgain ? await lend?.(written, snapshot.layers) : undefined;
    if (!found || !(await tree.mountAgain?.([found.layer, ...snapshot.layers]))) return undefined;
    lent = found.layer;
    return found;
  }

  async function diff(found: Scan, patchFile: string): ReturnType<typeof diffCommits> {
    using additions = writeAdditions(patchFile, snapshot.format);
    if (found.edits.length === 0) return { files: [], patchBytes: 0 };
    const isAsked = areMostlyAdded(found.edits);
    const { commit, added } = await record(found, isAsked ? additions : undefined);
    const from = isAsked ? added : base.commit;
    const rest =
      from === commit
        ? { files: [], patchBytes: 0 }
        : await diffCommits({ gitDir: contents, from, to: commit, patchFile });
    const files = [...additions.files, ...rest.files].sort((a, b) => byBytes(a.bytes, b.bytes));
    return { files, patchBytes: additions.patchBytes + rest.patchBytes };
  }

  async function rebase(): Promise<void> {
    const found = await scan();
    const unportable = new Set([...base.unportable, ...found.unportable]);
    if (found.edits.length === 0) {
      base = { ...base, unportable };
      return;
    }
    const { commit } = await record(found);
    base = { commit, tree: baseTree(applyEdits(base.tree.entries, found.edits)), unportable };
  }

  async function apply(incoming: Changes, keep: (path: string) => boolean = () => true): Promise<void> {
    const removed = incoming.files.flatMap(pathGone).filter((path) => keep(displayPath(path)));
    const written = incoming.files.flatMap(entryNow).filter(({ path }) => keep(displayPath(path)));
    for (const path of [...removed, ...written.map((entry) => entry.path)]) assertInsideTree(path);
    const turn = takeTurns();
    for (const path of removed) {
      await turn();
      await removeEntry(root, path);
    }
    const borrowed = await borrow(incoming.lend, written);
    const write = entryWriter(root);
    for (const entry of written) {
      await turn();
      if (borrowed?.has(entry.path)) continue;
      await write(entry, readHashed(absolutePath(incoming.tree, entry.path), entry));
    }
    for (const path of removed) pruneFolders(root, path);
  }

  async function restore(matches: (path: string) => boolean): Promise<string[]> {
    const found = await scan();
    const touched = [...found.edits.map(({ path }) => path), ...found.unportable];
    const paths = [...new Set(touched)].filter((path) => matches(displayPath(path))).sort(byBytes);
    const written = paths.flatMap((path) => blobEntry(path, base.tree.entries.get(path)));
    for (const path of paths) await removeEntry(root, path);
    const gitDir = written.length === 0 ? contents : openContents();
    const oids = written.map(({ oid }) => oid);
    await readBlobs(gitDir, oids, async (content, index) => {
      const entry = written[index];
      if (entry) await writeEntry(root, entry, content);
    });
    for (const path of paths) pruneFolders(root, path);
    return paths.map(displayPath);
  }

  async function write(texts: ReadonlyMap<string, string>): Promise<void> {
    for (const [display, text] of texts) {
      const path = pathBytes(display);
      assertInsideTree(path);
      const mode = base.tree.entries.get(path)?.mode === '100755' ? '100755' : '100644';
      await writeEntry(root, { path, mode }, Readable.from([Buffer.from(text)]));
    }
  }

  return {
    path: root,
    snapshot,
    place: present({ home: placedHome?.path, at: environment?.at }),
    disk: () => disk?.usage(),
    rebase: () => guarded(rebase),
    changes: (options) => guarded(() => changes(options)),
    apply: (incoming, keep) => guarded(() => apply(incoming, keep)),
    lay: (folder, leftOut) =>
      guarded(() => mergeFolder(root, folder, new Set([...(leftOut ?? [])].map(pathBytes)))),
    become: (folder, keep) =>
      guarded(() => replaceTree(root, folder, { keep, leftOut: environment?.roots ?? new Set() })),
    write: (texts) => guarded(() => write(texts)),
    restore: (matches) => guarded(() => restore(matches)),
    [Symbol.asyncDispose]() {
      disposed ??= remove().then(options.onDispose);
      return disposed;
    },
  };
}

/** What `changes` compares with: a commit, its tree, and the paths that were there but no commit can hold. */
type Base = { commit: string; tree: BaseTree; unportable: ReadonlySet<string> };

type BlobEntry = NewEntry & { oid: string };

/** Submodules have no blob. */
const blobEntry = (path: string, { mode, oid }: Partial<TreeEntry> = {}): BlobEntry[] =>
  mode === undefined || mode === '160000' || oid === undefined ? [] : [{ path, mode, oid }];

function pathGone({ change, bytes, fromBytes }: FileChange): string[] {
  if (change === 'deleted') return [bytes];
  return fromBytes === undefined ? [] : [fromBytes];
}

const entryNow = ({ bytes, ...entry }: FileChange): BlobEntry[] => blobEntry(bytes, entry);
