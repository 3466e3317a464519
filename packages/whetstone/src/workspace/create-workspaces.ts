import { randomUUID } from 'node:crypto';
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { type Owner, removeTree } from '@whetstone/sandbox';
import type { OverlayOperation } from '../config/config.ts';
import { openCaseDisks } from './case-disk.ts';
import { choosePlacement } from './choose-placement.ts';
import { createWorkspace } from './create-workspace.ts';
import { namingFullDisk } from './disk-full.ts';
import { equipSnapshot } from './equip-snapshot.ts';
import { extractTree } from './extract-tree.ts';
import { formatOf, makeGitDirectory } from './git-directory.ts';
import { overlaidPaths } from './overlaid-paths.ts';
import { instructionPaths, placeInstructions, type VariantInstructions } from './place-instructions.ts';
import { materialisePristine, type Pristine } from './pristine-tree.ts';
import { openRepository } from './repository.ts';
import { type Seal, sealFolders } from './seal.ts';
import { buildSnapshot, type PreparedSnapshot } from './snapshot.ts';
import { type Withheld, withheldBy } from './withheld.ts';
import type { Snapshot, Workspace, WorkspaceStrategy, Workspaces } from './workspace.ts';

/**
 * Disposable workspaces for the commits of one repository. `scratch`: an existing folder outside the repository; what
 * is made in it is removed on disposal. `strategy`: default `auto`, the best one that works here.
 * @throws WhetstoneError those of `openRepository`, `workspace-strategy-unavailable`, `sandbox-unavailable` for a `diskBytes` that nothing here enforces. `prepare` throws
 * `repo-objects-missing` and those of `applyOverlays`; everything that writes throws `disk-full`.
 */
export async function createWorkspaces(options: {
  repo: string;
  scratch: string;
  strategy?: 'auto' | 'shared' | WorkspaceStrategy;
  /** Paths that no tree has. Default: none. */
  withheld?: readonly Withheld[];
  /** To whom the trees belong, if not to the user of this process. */
  owner?: Owner | undefined;
  /** What a workspace may take of the disk, with all that is beside it. Default: that of `openCaseDisks`. */
  diskBytes?: number | undefined;
  /** How many cases use workspaces at the same time. Default: 1. */
  casesAtOnce?: number | undefined;
  /** The fewest new files that `changes({ lends: true })` lends. Fewer are copied as quickly. Default: 2,000. */
  leastLent?: number;
}): Promise<Workspaces> {
  const repository = await openRepository(options.repo);
  const scratch = await realpath(options.scratch);
  const isWithheld = withheldBy(options.withheld ?? []);
  const guarded = <T>(work: () => Promise<T>) => namingFullDisk(scratch, work);
  // Trees and layers are not beside the workspaces, because an agent may see what is around its workspace.
  const backstage = join(scratch, `t-${randomName()}`);
  const placement = await guarded(() => choosePlacement(scratch, options.strategy ?? 'auto'));
  await guarded(() => mkdir(backstage, { mode: 0o700 }));
  const { diskBytes: stated, casesAtOnce } = options;
  const disks =
    placement.strategy === 'mount' ? await openCaseDisks(backstage, { stated, casesAtOnce }) : undefined;
  if (stated !== undefined && !disks) throw await withoutLimit(placement);

  const stores = new Map<string, Promise<string>>();
  const pristines = new Map<string, Promise<Pristine>>();
  const trees = new Map<string, Promise<PreparedSnapshot>>();
  const snapshots = new Map<string, Promise<PreparedSnapshot>>();
  const prepared = new WeakMap<Snapshot, PreparedSnapshot>();
  const equipped = new Map<string, Promise<PreparedSnapshot>>();
  const seals = new WeakMap<Snapshot, Seal>();
  const live = new Set<Workspace>();

  function preparedOf(snapshot: Snapshot): PreparedSnapshot {
    const source = prepared.get(snapshot);
    if (!source) throw new Error('a snapshot belongs to the Workspaces that prepared it');
    return source;
  }

  /** From here on nothing of the snapshot changes. */
  async function seal(made: PreparedSnapshot): Promise<void> {
    prepared.set(made, made);
    const home = made.homeLayer === undefined ? [] : [made.homeLayer];
    seals.set(made, await sealFolders([...made.layers, ...home]));
  }

  /** Our own git directory, which reads the objects of the user's repository and nothing else of it. */
  async function openStore(commit: string): Promise<string> {
    const gitDir = join(backstage, `store-${formatOf(commit)}`);
    makeGitDirectory(gitDir, { format: formatOf(commit), alternates: [repository.objects] });
    return gitDir;
  }

  async function preparePristine(commit: string): Promise<Pristine> {
    const gitDir = await once(stores, formatOf(commit), () => openStore(commit));
    return materialisePristine(
      gitDir,
      commit,
      join(backstage, `p-${randomName()}`),
      isWithheld,
      options.owner,
    );
  }

  async function prepareSnapshot(commit: string, overlays: OverlayOperation[]): Promise<PreparedSnapshot> {
    const pristine = await once(pristines, commit, () => preparePristine(commit));
    const gitDir = await once(stores, formatOf(commit), () => openStore(commit));
    const directory = join(backstage, `s-${randomName()}`);
    return buildSnapshot({ gitDir, pristine, overlays, directory, placement });
  }

  /** The same tree for all agents whose instructions come out the same. */
  async function prepareWanted(
    commit: string,
    overlays: OverlayOperation[],
    instructions: VariantInstructions | undefined,
  ): Promise<PreparedSnapshot> {
    const build = (all: OverlayOperation[]) =>
      once(trees, JSON.stringify([commit, all]), () => prepareSnapshot(commit, all));
    if (!instructions) return { ...(await build(overlays)) };
    const { entries } = await once(pristines, commit, () => preparePristine(commit));
    const own = instructionPaths(entries.keys(), instructions.places.instructions);
    const placed = placeInstructions(await overlaidPaths(own, overlays), instructions);
    const { path, hides } = placed;
    return { ...(await build([...overlays, ...placed.overlays])), placed: { path, hides } };
  }

  return {
    strategy: placement.strategy,
    diskBytes: disks?.bytes ?? null,
    prepare: (commit, overlays, instructions) =>
      guarded(async () => {
        assertCommitId(commit);
        const key = JSON.stringify([commit, overlays, instructions]);
        return once(snapshots, key, async () => {
          const snapshot = await prepareWanted(commit, overlays, instructions);
          await seal(snapshot);
          return snapshot;
        });
      }),
    equip: (snapshot, environment) =>
      guarded(async () => {
        const source = preparedOf(snapshot);
        return once(equipped, `${source.layers.join()} ${environment.key}`, async () => {
          const fresh = placement.strategy === 'mount' ? await preparePristine(source.commit) : undefined;
          const directory = join(backstage, `e-${randomName()}`);
          const made = await equipSnapshot({ source, fresh, environment, directory, placement });
          await seal(made);
          return made;
        });
      }),
    extract: (snapshot, folder, keep, changes) =>
      guarded(() => extractTree(preparedOf(snapshot), folder, keep, changes)),
    create: (snapshot) =>
      guarded(async () => {
        const source = preparedOf(snapshot);
        const workspace = await createWorkspace({
          snapshot: source,
          placement,
          disks,
          leastLent: options.leastLent ?? 2000,
          home: join(scratch, `w-${randomName()}`),
          backstage: join(backstage, `c-${randomName()}`),
          guarded,
          onDispose: () => live.delete(workspace),
        });
        live.add(workspace);
        return workspace;
      }),
    broken: async (snapshot) => seals.get(snapshot)?.broken(),
    async [Symbol.asyncDispose]() {
      const pending = await Promise.allSettled(
        [...live].map((workspace) => workspace[Symbol.asyncDispose]()),
      );
      const making = [stores, pristines, snapshots, equipped].flatMap((map) => [...map.values()]);
      await Promise.allSettled<unknown>(making);
      await placement[Symbol.asyncDispose]();
      await removeTree(backstage);
      const failed = pending.find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
    },
  };
}

async function withoutLimit(placement: AsyncDisposable): Promise<WhetstoneError> {
  await placement[Symbol.asyncDispose]();
  return new WhetstoneError('sandbox-unavailable', 'This machine does not let Whetstone limit disk space.', {
    hint: 'It needs Linux, root, mkfs.ext4 and loop devices, and a sandbox other than docker. Leave `limits.disk_mb` out, or put TMPDIR on a file system of its own.',
  });
}

/** A name that shows nothing of task, variant or trial, and cannot be guessed from another one. */
function randomName(): string {
  // Of random bytes that are fetched for many names at once.
  return randomUUID().slice(-12);
}

/** Callers with the same key share one call of `make`. A call that failed is forgotten. */
function once<T>(known: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const running = known.get(key);
  if (running) return running;
  const started = make();
  known.set(key, started);
  started.catch(() => known.delete(key));
  return started;
}

function assertCommitId(commit: string): void {
  if (/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(commit)) return;
  throw new WhetstoneError('repo-ref-unknown', `${JSON.stringify(commit)} is not a full commit id.`, {
    hint: 'Resolve a branch, tag or short id with resolveCommit() first.',
  });
}
