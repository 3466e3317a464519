import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { limitsOf } from '@whetstone/sandbox';
import { afterEach, expect, test } from 'vitest';
import { makeProject, type Project } from './__fixtures__/project.ts';

let project: Project;
afterEach(() => project?.[Symbol.dispose]());

const hasLoopDevices =
  process.getuid?.() === 0 && existsSync('/dev/loop-control') && existsSync('/usr/sbin/mkfs.ext4');
const isLimited = limitsOf().memoryBytes !== undefined;

test.runIf(isLimited)(
  'a case that fails at a limit of its sandbox says so, and each row has what its commands used',
  { tags: 'cgroups' },
  async () => {
    project = makeProject({
      tasks: [{ id: 'one', prompt: 'x' }],
      agents: { modest: 'true', greedy: `perl -e '$x = "a" x 200_000_000'` },
      config: { sandbox: { provider: 'process', limits: { memory_mb: 64, processes: 50 } } },
    });
    await project.whetstone(['run', '--jobs', '2']);
    const { rows, manifest } = project.latest();
    expect(manifest.isolation.limits).toMatchObject({ memory_bytes: 64e6, processes: 50, cpus: null });
    expect(rows.find((row) => row.agent_name === 'greedy')).toMatchObject({
      ...{ outcome: 'failed', failure_class: 'limit', limits_exceeded: ['memory'] },
      evidence: expect.stringMatching(
        /^the commands ran into the limit on memory: the agent did not complete/,
      ),
    });
    const modest = rows.find((row) => row.agent_name === 'modest');
    expect(modest).toMatchObject({ outcome: 'passed', cpu_seconds: expect.any(Number) });
    expect(modest?.limits_exceeded).toBeUndefined();
    expect(modest?.peak_memory_bytes).toBeLessThan(64e6);
  },
);

/** All that it can write is on one disk. */
const FILLING =
  'for place in . ~ "$TMPDIR"; do head -c 40000000 /dev/zero > $place/filled; done; echo work > done';

test.runIf(hasLoopDevices)(
  'a case that fills its disk fails at this limit, and its neighbours have a disk of their own',
  { tags: 'namespaces' },
  async () => {
    project = makeProject({
      tasks: [{ id: 'one', prompt: 'x', validation: { commands: ['test -f done', 'test ! -f filled'] } }],
      agents: {
        many: 'echo work > done; i=0; while echo > f$i; do i=$((i + 1)); done 2>/dev/null; rm done',
        modest: 'echo work > done; head -c 40000000 /dev/zero > ~/kept',
        greedy: FILLING,
      },
      config: { sandbox: { provider: 'process', limits: { disk_mb: 64 } } },
    });
    await project.whetstone(['run', '--jobs', '3']);
    const { rows, manifest, directory } = project.latest();
    const disk_bytes = 64e6;
    expect(manifest.isolation.limits).toMatchObject({ disk_bytes });
    const rowOf = (agent: string) => rows.find((row) => row.agent_name === agent);
    expect(rowOf('modest')).toMatchObject({ outcome: 'passed', disk_limit_bytes: disk_bytes });
    expect(rowOf('modest')?.peak_disk_bytes).toBeGreaterThan(40e6);
    expect(rowOf('modest')?.limits_exceeded).toBeUndefined();
    for (const agent of ['greedy', 'many'])
      expect(rowOf(agent)).toMatchObject({
        outcome: 'failed',
        failure_class: 'limit',
        limits_exceeded: ['disk'],
      });
    expect(readFileSync(join(directory, 'report.md'), 'utf8')).toContain('0.1 GB of disk');
  },
);

test.runIf(process.getuid?.() === 0)(
  'without a way to limit the disk, rows and the report say so, and a stated limit is an error',
  { tags: 'root' },
  async () => {
    const config = { sandbox: { provider: 'process' } };
    project = makeProject({ tasks: [{ id: 'one', prompt: 'x' }], agents: { mine: 'true' }, config });
    project.write({ 'bin/mkfs.ext4': '#!/bin/sh\nexit 1\n' });
    chmodSync(join(project.root, 'bin/mkfs.ext4'), 0o755);
    const env = { PATH: `${join(project.root, 'bin')}:${process.env.PATH}` };
    await project.whetstone(['run'], env);
    const { rows, manifest, directory } = project.latest();
    expect(rows).toMatchObject([{ outcome: 'passed', disk_limit_bytes: null, peak_disk_bytes: null }]);
    expect(manifest.isolation.limits).toMatchObject({ disk_bytes: null });
    expect(readFileSync(join(directory, 'report.md'), 'utf8')).toContain('disk not limited');
    project.writeConfig({ sandbox: { provider: 'process', limits: { disk_mb: 64 } } });
    expect(await project.whetstone(['run'], env)).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('This machine does not let Whetstone limit disk space.'),
    });
  },
);
