import { mkdirSync, rmSync, type StatsFs, statfsSync, truncateSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { launcherMounts, type Mounts, type OpenDisk, runProgram } from '@whetstone/sandbox/process';

/** File systems of a limited size, one for all that a case can write. */
export type CaseDisks = {
  /** Of each, its own tables included. */
  bytes: number;
  /**
   * Shows an empty folder of a new one at `target`. `backstage`: a folder for the rest, which ends with the case. `undefined`: the
   * machine had no loop device left, and nobody asked for a limit.
   */
  open(target: string, backstage: string): Promise<CaseDisk | undefined>;
};

export type CaseDisk = {
  /** A folder of the same file system that the case does not see. */
  hidden: string;
  /** `undefined`: it was gone before anybody could look. */
  usage(): DiskUsage | undefined;
  /** Called before its mounts end. Returns what ends them. Its file is left. */
  closing(): OpenDisk;
};

/**
 * `limitBytes`: the size of the file system. `peakBytes`: the most that was seen, four times a second. `wasFull`: whether it was
 * found without space, or without room for a file.
 */
export type DiskUsage = { limitBytes: number; peakBytes: number; wasFull: boolean };

/** Far above what work needs. It is halved until all disks fit in what is free, so that runs of one machine agree. */
const DEFAULT_BYTES = 16 * 2 ** 30;
const WATCH_MS = 250;
/** Of a larger file system, `mkfs.ext4` makes a journal of up to 256 MiB, which takes that space of the machine. */
const JOURNALED_BYTES = 4 * 2 ** 30;
/** Writing as much to a file takes a tenth of a second. */
const LARGE_BYTES = 64 * 2 ** 20;
/** What is left where a file system says that it has no space for another file. */
const LEAST = { bytes: 2 ** 20, files: 4 };

/**
 * Ways to limit disk space that work on this machine: file systems in files, which take root, ext4 and loop devices. Without
 * them `undefined`. `scratch`: a folder of this process's own mounts. `stated`: bytes; default 16, 8, 4 … GiB, so many that two
 * for each of `casesAtOnce` fit in what is free: a case has one for its agent and one for its verification. So no case takes
 * the space of another one.
 */
export async function openCaseDisks(
  scratch: string,
  { stated, casesAtOnce = 1 }: { stated?: number | undefined; casesAtOnce?: number | undefined } = {},
): Promise<CaseDisks | undefined> {
  const mounts = launcherMounts();
  if (process.getuid?.() !== 0 || !mounts) return undefined;
  const template = join(scratch, 'disk');
  const bytes = stated ?? defaultBytes(scratch, 2 * casesAtOnce);
  const disks: CaseDisks = {
    bytes,
    async open(target, backstage) {
      const [image, place] = [join(backstage, 'disk'), join(backstage, 'mounted')];
      mkdirSync(place);
      const isOpen = await mounts.openDisk({ template, image, place, target }).then(
        () => true,
        (error: unknown) => {
          if (stated !== undefined) throw error;
          return false;
        },
      );
      if (!isOpen) return undefined;
      const hidden = join(place, 'hidden');
      mkdirSync(hidden, { mode: 0o700 });
      return watched({ place, target, hidden, bytes });
    },
  };
  try {
    await makeFileSystem(template, bytes);
    await tryOut(disks, mounts, scratch);
    return disks;
  } catch {
    rmSync(template, { force: true });
    return undefined;
  }
}

type Watched = Record<'place' | 'target' | 'hidden', string> & { bytes: number };

function watched({ place, target, hidden, bytes }: Watched): CaseDisk {
  const empty = statfsSync(place);
  let [peakBytes, wasFull] = [-1, false];
  const look = () => {
    const found = statIfThere(place);
    if (found === undefined) return;
    wasFull ||= found.bavail * found.bsize < LEAST.bytes || found.ffree < LEAST.files;
    peakBytes = Math.max(peakBytes, (empty.bavail - found.bavail) * found.bsize);
  };
  // An agent can fill it and make room again.
  const timer = setInterval(look, WATCH_MS).unref();
  return {
    hidden,
    usage() {
      look();
      return peakBytes < 0 ? undefined : { limitBytes: bytes, peakBytes, wasFull };
    },
    closing() {
      clearInterval(timer);
      return { place, target, isLarge: peakBytes > LARGE_BYTES };
    },
  };
}

/** Whoever removes the folders of a run while it works, such as a cleaner of `/tmp`, fails its cases and must not end the run. */
function statIfThere(place: string): StatsFs | undefined {
  try {
    return statfsSync(place);
  } catch {
    return undefined;
  }
}

async function tryOut(disks: CaseDisks, mounts: Mounts, scratch: string): Promise<void> {
  const [target, backstage] = [join(scratch, 'd-target'), join(scratch, 'd-backstage')];
  for (const folder of [target, backstage]) mkdirSync(folder);
  try {
    const disk = await disks.open(target, backstage);
    if (!disk) throw new Error('no loop device can be used');
    await mounts.clear({ targets: [], disk: disk.closing(), folders: [] });
  } finally {
    for (const folder of [target, backstage]) rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * An empty file system in a sparse file, with its tables at its start. Without a journal, ext4 looks at the inodes of
 * all removed files of the last minutes for each new file. Checksums would only show a crash, which it never outlives.
 */
async function makeFileSystem(file: string, bytes: number): Promise<void> {
  writeFileSync(file, '', { mode: 0o600 });
  truncateSync(file, bytes);
  const features = 'has_journal,^metadata_csum,uninit_bg,^resize_inode,sparse_super2';
  const layout = 'num_backup_sb=0,packed_meta_blocks=1,lazy_itable_init=1,lazy_journal_init=1,nodiscard';
  const journal = bytes > JOURNALED_BYTES ? ['-J', 'size=64'] : [];
  const args = ['-q', '-F', '-m', '0', '-i', '8192', '-O', features, '-E', layout, ...journal, file];
  await runProgram('mkfs.ext4', args, {
    PATH: [process.env.PATH, '/usr/sbin', '/sbin'].filter(Boolean).join(delimiter),
  });
}

function defaultBytes(scratch: string, disks: number): number {
  const { bavail, bsize } = statfsSync(scratch);
  let bytes = DEFAULT_BYTES;
  while (bytes > LEAST.bytes && disks * bytes > bavail * bsize) bytes /= 2;
  return bytes;
}
