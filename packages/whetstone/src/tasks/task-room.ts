import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { createMask, type SandboxLevel, startSandboxProvider } from '@whetstone/sandbox';
import type { Config, EnvironmentConfig, TaskConfig } from '../config/config.ts';
import { usesEngine } from '../config/sandbox-facts.ts';
import { prepareEnvironment, setupEnvironment } from '../config/setup-environment.ts';
import { type EnvironmentEvent, openEnvironments } from '../environment/open-environments.ts';
import { judgeWork, type Work } from '../verify/judge-work.ts';
import { startKey } from '../verify/masks/plan-masks.ts';
import type { Verification, VerifyInput } from '../verify/verify.ts';
import { createWorkspaces } from '../workspace/create-workspaces.ts';
import { resolveCommit } from '../workspace/repository.ts';
import { makeScratch, sweepScratch } from '../workspace/scratch-folder.ts';
import type { Withheld } from '../workspace/withheld.ts';

/** Runs tasks without an agent: the clean room judges a tree in which something else stands for the agent's work. */
export type TaskRoom = AsyncDisposable & {
  /** Judges a tree with this work. Times in seconds. */
  judge(task: TaskConfig, work: Work, options: JudgeOptions): Promise<Verification & { seconds: number }>;
  /** The isolation of its sandboxes. */
  describe(): Promise<SandboxLevel>;
  /** Names the tree that a task starts from, and its environment. */
  startOf(task: TaskConfig): Promise<string>;
  /** Names the environment that a task has; `''`: none. A preparation that fails is left for `judge` to tell. */
  environmentOf(task: TaskConfig): Promise<string>;
  /** Writes the tree that a task starts from into an empty folder, without a `.git` and without an environment. */
  writeTree(task: TaskConfig, folder: string): Promise<void>;
};

export type JudgeOptions = { signal: AbortSignal } & Partial<
  Pick<VerifyInput, 'surroundings' | 'masking' | 'trial' | 'coin' | 'limits'>
>;

/** Opens a room for the tasks of a repository. */
export async function openTaskRoom(options: {
  repo: Config['repo'];
  sandbox: Config['sandbox'];
  withheld: readonly Withheld[];
  /** Prepared for the trees of the tasks. Default: none. */
  environment?: EnvironmentConfig | undefined;
  /** For the output of a preparation, made when needed. */
  logs: string;
  signal: AbortSignal;
  onEnvironment?: ((event: EnvironmentEvent) => void) | undefined;
}): Promise<TaskRoom> {
  const { repo, sandbox, withheld, environment } = options;
  await sweepScratch();
  await using opened = new AsyncDisposableStack();
  const isShared = usesEngine(sandbox);
  const scratch = opened.use(await makeScratch({ isShared }));
  const { provider, readable, limits, container, hosts, setupHosts } = sandbox;
  const sandboxes = await startSandboxProvider(provider, {
    scratch: scratch.directory,
    ...present({ readable, limits, container, hosts, setupHosts }),
  });
  const { owner } = sandboxes;
  const workspaces = opened.use(
    await createWorkspaces({
      ...{ repo: repo.path, scratch: scratch.directory, withheld, owner },
      ...(isShared && { strategy: 'shared' }),
      diskBytes: sandbox.diskBytes,
    }),
  );
  const prepared = prepareEnvironment(environment, process.env);
  const environments =
    environment && environment.prepare.length > 0
      ? opened.use(
          await openEnvironments({
            ...{ config: environment, variables: prepared, workspaces, sandboxes },
            ...{ scratch: scratch.directory, project: basename(repo.path), logs: options.logs },
            ...{ mask: createMask(prepared.secrets), signal: options.signal },
            ...present({ onEvent: options.onEnvironment }),
          }),
        )
      : undefined;
  const all = opened.move();
  let count = 0;
  const startOf = async (task: TaskConfig) => {
    const commit = await resolveCommit(repo.path, task.repoRef ?? repo.baseRef);
    return workspaces.prepare(commit, task.overlays ?? []);
  };
  return {
    describe: () => sandboxes.describe(),
    async writeTree(task, folder) {
      await workspaces.extract(await startOf(task), folder, () => true);
      await rm(join(folder, '.git'), { recursive: true });
    },
    startOf: async (task) => startKey(await startOf(task), environment),
    async environmentOf(task) {
      const equipped = await environments?.equip(await startOf(task)).catch(() => undefined);
      return equipped?.environment?.key ?? '';
    },
    async judge(task, work, { signal, ...how }) {
      const start = performance.now();
      const bare = await startOf(task);
      const equipped = await Promise.resolve(environments?.equip(bare) ?? bare).catch(brokenBy);
      if ('evidence' in equipped)
        return { ...notJudged(equipped), seconds: (performance.now() - start) / 1000 };
      const verification = await judgeWork(work, {
        ...{ task, snapshot: equipped, workspaces, sandboxes, signal },
        services: environment?.services ?? [],
        directory: join(scratch.directory, `logs-${count++}`),
        logsAreKept: false,
        mask: createMask([...prepared.secrets, ...setupEnvironment(task, process.env).secrets]),
        ...present({ environments }),
        ...how,
      });
      return { ...verification, seconds: (performance.now() - start) / 1000 };
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** A preparation that failed. */
function brokenBy(error: unknown): { class: 'task'; evidence: string } {
  if (!(error instanceof WhetstoneError) || error.class !== 'task') throw error;
  return { class: 'task', evidence: error.message };
}

const notJudged = (broken: NonNullable<Verification['broken']>): Verification => ({
  ...{ validation: 'skipped', commands: [], hard: [], hardStatus: 'not_configured', protectedTouched: [] },
  broken,
});
