import { execFileSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import type { TaskConfig } from '../../config/config.ts';
import type { TestRunnerName } from '../../config/schema.ts';
import { openTaskRoom } from '../../tasks/task-room.ts';
import { initRepo } from '../../workspace/__fixtures__/git-folder.ts';
import { commitAll, makeTempDir, runGit, type TreeSpec, writeTree } from '../../workspace/__fixtures__/test-repo.ts';
import { listTests } from '../list-tests.ts';
import type { Coin } from '../masks/exchange-twins.ts';
import { type MaskingOfTask, planMasks } from '../masks/plan-masks.ts';
import type { TestReport } from '../tests/test-runner.ts';
import type { Verification } from '../verify.ts';

/** A task: a tree, the files that solve it, and its hidden tests. */
export type MaskedProject = {
  runner: TestRunnerName;
  files: TreeSpec;
  solution: TreeSpec;
  hidden: Record<string, string>;
  /** A shell script that runs before the tests. Default: none. */
  setup?: string;
  /** Of the tests. Default: none. */
  options?: string[];
  directory?: string;
  /** Default: absent. */
  masks?: 'on' | 'off' | number;
  /** Default: absent. */
  settings?: 'own' | 'tree';
  /** Default: `process`. */
  sandbox?: 'process' | 'bubblewrap';
};

export type MaskedRoom = AsyncDisposable & {
  masking: MaskingOfTask;
  task: TaskConfig;
  /** Judges what a shell script leaves in the tree. `isMasked`: default true. */
  judge(script: string, how?: { isMasked?: boolean; coin?: Coin }): Promise<Verification>;
  /** What the runner reports of the tree with other files, and with other texts of test files. */
  reportOf(files: TreeSpec, texts: ReadonlyMap<string, string>): Promise<TestReport>;
  /** Judges the tree with other files. */
  judgeFiles(files: TreeSpec, how?: { isMasked?: boolean; coin?: Coin }): Promise<Verification>;
};

/** Coins that fall in the same way in every run of a test. */
export function seededCoin(seed: number): Coin {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 31 === 1;
  };
}

/** Opens a clean room for a task, with its tests listed and its masks calibrated. */
export async function openMaskedRoom(project: MaskedProject): Promise<MaskedRoom> {
  const root = makeTempDir();
  const repo = join(root, 'repo');
  const { signal } = new AbortController();
  initRepo(repo);
  commitAll(repo, project.files, 'start');
  writeTree(join(root, 'hidden'), project.hidden);
  let count = 0;
  const patchOf = (change: (tree: string) => void): string => {
    const tree = join(root, `tree-${count++}`);
    cpSync(repo, tree, { recursive: true, verbatimSymlinks: true });
    change(tree);
    runGit(tree, ['add', '-A', '-f']);
    return runGit(tree, ['diff', '--cached', '--binary', '--no-renames', 'HEAD']);
  };
  const goldPatch = join(root, 'gold.patch');
  writeFileSync(goldPatch, patchOf((tree) => writeTree(tree, project.solution)), 'latin1');
  const stated = {
    ...{ id: 'masked', prompt: 'Make it right.', protectedPaths: [], extra: {}, goldPatch },
    setup: project.setup === undefined ? [] : [{ kind: 'shell', script: project.setup }],
    hiddenTests: join(root, 'hidden'),
    validation: {
      commands: [],
      tests: {
        runner: project.runner,
        files: Object.keys(project.hidden).filter((path) => /test/.test(path)),
        ...{ options: project.options ?? [], mustPass: [] },
        ...(project.directory !== undefined && { directory: project.directory }),
        ...(project.masks !== undefined && { masks: project.masks }),
        ...(project.settings !== undefined && { settings: project.settings }),
      },
    },
  } as unknown as TaskConfig;
  const room = await openTaskRoom({
    repo: { path: repo, baseRef: 'HEAD' },
    sandbox: { provider: project.sandbox ?? 'process' } as Parameters<typeof openTaskRoom>[0]['sandbox'],
    ...{ withheld: [], logs: join(root, 'logs'), signal },
  });
  const task = await listTests(stated, (patch) => room.judge(stated, patch, { signal }));
  const masking = await planMasks(task, {
    start: await room.startOf(task),
    judge: (trial, patch) => room.judge(task, patch, { signal, trial }),
  });
  const judgePatch = (patch: string, { isMasked = true, coin }: { isMasked?: boolean; coin?: Coin } = {}) => {
    if (!('plan' in masking) && isMasked) throw new WhetstoneError('masks-unusable', JSON.stringify(masking));
    return room.judge(task, patch, {
      ...{ signal, ...(coin && { coin }) },
      ...(isMasked && 'plan' in masking && { masking: masking.plan }),
    });
  };
  return {
    ...{ masking, task },
    judge: (script, how) =>
      judgePatch(
        patchOf((cwd) => execFileSync('sh', ['-c', script], { cwd, stdio: 'ignore' })),
        how,
      ),
    judgeFiles: (files, how) => judgePatch(patchOf((tree) => writeTree(tree, files)), how),
    async reportOf(files, trial) {
      const found = await room.judge(task, patchOf((tree) => writeTree(tree, files)), { signal, trial });
      return found.tests ?? { tests: new Map(), problems: [found.failure ?? 'the tests did not run'] };
    },
    async [Symbol.asyncDispose]() {
      await room[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true });
    },
  };
}
