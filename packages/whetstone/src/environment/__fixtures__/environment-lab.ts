// A repository, its workspaces and a store of environments, for tests of what is prepared and what cases get of it.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createMask, createProcessSandboxProvider } from '@whetstone/sandbox';
import type { EnvironmentConfig } from '../../config/config.ts';
import { makeRepo, makeTempDir, type TreeSpec } from '../../workspace/__fixtures__/test-repo.ts';
import { createWorkspaces } from '../../workspace/create-workspaces.ts';
import { resolveCommit } from '../../workspace/repository.ts';
import type { Snapshot, Workspace, WorkspaceStrategy } from '../../workspace/workspace.ts';
import { layerStore } from '../layer-store.ts';
import { type EnvironmentEvent, type Environments, openEnvironments } from '../open-environments.ts';

export type Wanted = Partial<Omit<EnvironmentConfig, 'prepare'>> & { prepare: string[]; secrets?: string[]; folder?: string };

export async function openLab(files: TreeSpec, strategy: WorkspaceStrategy) {
  const repo = makeRepo(files);
  const scratch = makeTempDir();
  const folder = makeTempDir();
  const store = layerStore(join(folder, 'environments'));
  const workspaces = await createWorkspaces({ repo, scratch, strategy });
  const sandboxes = await createProcessSandboxProvider({ scratch });
  const events: EnvironmentEvent[] = [];
  const abort = new AbortController();
  return {
    repo,
    store,
    events,
    workspaces,
    abort,
    open: ({ prepare, secrets = [], ...rest }: Wanted): Promise<Environments> =>
      openEnvironments({
        config: {
          prepare: prepare.map((script) => ({ kind: 'shell', script })),
          timeoutSeconds: 60,
          services: [],
          ...rest,
        },
        variables: { env: Object.fromEntries(secrets.map((secret, index) => [`SECRET_${index}`, secret])), secrets },
        ...{ workspaces, sandboxes, scratch, store },
        project: 'project',
        logs: join(folder, 'logs'),
        mask: createMask(secrets),
        signal: abort.signal,
        onEvent: (event) => events.push(event),
      }),
    snapshot: async (ref = 'HEAD'): Promise<Snapshot> => workspaces.prepare(await resolveCommit(repo, ref), []),
    /** What a script prints in a workspace, as an agent or a clean room would run it. */
    async run(workspace: Workspace, script: string): Promise<string> {
      await using sandbox = await sandboxes.start({ workdir: workspace.path, ...workspace.place, env: {} });
      const { stdout, stderr, exitCode } = await sandbox.runShell(script);
      return `${stdout}${stderr}${exitCode === 0 ? '' : `exit ${exitCode}\n`}`;
    },
    async [Symbol.asyncDispose]() {
      await workspaces[Symbol.asyncDispose]();
      for (const path of [repo, scratch, folder]) rmSync(path, { recursive: true, force: true });
    },
  };
}
