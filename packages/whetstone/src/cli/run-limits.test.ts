import { limitsOf } from '@whetstone/sandbox';
import { afterEach, expect, test } from 'vitest';
import { makeProject, type Project } from './__fixtures__/project.ts';

let project: Project;
afterEach(() => project?.[Symbol.dispose]());

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
    expect(manifest.isolation.limits).toEqual({ memory_bytes: 64e6, processes: 50, cpus: null });
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
