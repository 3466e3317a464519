import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launcherMounts } from '@whetstone/sandbox/process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openCaseDisks } from './case-disk.ts';

const hasLoopDevices =
  process.getuid?.() === 0 && existsSync('/dev/loop-control') && existsSync('/usr/sbin/mkfs.ext4');

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'case-disk-test-'));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

test.runIf(hasLoopDevices)(
  'a disk is closed without writing what nobody reads, and leaves no mount',
  { tags: 'namespaces' },
  async () => {
    // So large that the kernel does not write early, for want of space.
    const disks = await openCaseDisks(scratch, { stated: 4 * 2 ** 30 });
    const [target, backstage] = [join(scratch, 'target'), join(scratch, 'backstage')];
    for (const folder of [target, backstage]) mkdirSync(folder);
    const disk = await disks?.open(target, backstage);
    writeFileSync(join(target, 'large'), Buffer.alloc(200 * 2 ** 20, 'x'));
    expect(disk?.usage()?.peakBytes).toBeGreaterThan(200e6);
    await launcherMounts()?.clear({ targets: [], disk: disk?.closing(), folders: [] });
    // Its file has blocks only for what was written to it.
    expect(512 * statSync(join(backstage, 'disk')).blocks).toBeLessThan(100e6);
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(scratch);
  },
);

test.runIf(hasLoopDevices)(
  'the disks of all cases that run at the same time fit in what is free',
  { tags: 'namespaces' },
  async () => {
    const disks = await openCaseDisks(scratch, { casesAtOnce: 64 });
    const { bavail, bsize } = statfsSync(scratch);
    expect(2 * 64 * (disks?.bytes ?? Infinity)).toBeLessThanOrEqual(bavail * bsize);
  },
);
