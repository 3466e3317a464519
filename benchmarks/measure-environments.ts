/**
 * `node measure-environments.ts ROUNDS`: prints what a case costs whose packages are installed in it, and one whose
 * environment was prepared, as JSON. It runs in a mount namespace of its own, like `whetstone run`.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createMask, createProcessSandboxProvider } from '@whetstone/sandbox';
import type { EnvironmentConfig } from '../packages/whetstone/src/config/config.ts';
import { prepareEnvironment } from '../packages/whetstone/src/config/setup-environment.ts';
import { layerStore } from '../packages/whetstone/src/environment/layer-store.ts';
import { openEnvironments } from '../packages/whetstone/src/environment/open-environments.ts';
import { createWorkspaces } from '../packages/whetstone/src/workspace/create-workspaces.ts';
import { enterPrivateMountNamespace } from '../packages/whetstone/src/workspace/mount-namespace.ts';
import { resolveCommit } from '../packages/whetstone/src/workspace/repository.ts';
import type { Snapshot, Workspace } from '../packages/whetstone/src/workspace/workspace.ts';
import { median } from './benchmark.ts';
import { cpuSecondsOfChildren } from './process-use.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { diskUsed } from './workspace-methods.ts';

/** Medians of the rounds. `disk` is the space of the case before its agent starts. */
export type EnvironmentFigures = {
  subject: string;
  readyMs: number;
  cpuMs: number;
  rebaseMs: number;
  changesMs: number;
  diskBytes: number;
};
export type EnvironmentMeasurements = {
  figures: EnvironmentFigures[];
  files: number;
  /** Once, before the first case. */
  prepareSeconds: number;
  /** The same environment from the cache, in another run. */
  againSeconds: number;
  strategy: string;
};

const PACKAGE = {
  name: 'project',
  private: true,
  dependencies: { next: '15.5.6', react: '19.2.0', 'react-dom': '19.2.0', '@mui/material': '7.3.5' },
  devDependencies: { typescript: '5.9.3', eslint: '9.39.1', vitest: '4.0.8', '@mui/icons-material': '7.3.5' },
};
/** Not `npm ci`: some registries lack packages of other platforms, and then npm refuses the lock file that it wrote. */
const INSTALL = 'npm install --no-audit --no-fund --ignore-scripts';

enterPrivateMountNamespace();
const rounds = Number(process.argv[2] ?? 1);
using folder = temporaryFolder();
console.log(JSON.stringify(await measure(folder.path)));

async function measure(work: string): Promise<EnvironmentMeasurements> {
  const repo = join(work, 'repository');
  const scratch = join(work, 'scratch');
  for (const path of [repo, scratch]) mkdirSync(path);
  writeFileSync(join(repo, 'package.json'), JSON.stringify(PACKAGE));
  writeFileSync(join(repo, '.gitignore'), 'node_modules\n');
  writeFileSync(join(repo, 'index.js'), 'export const answer = 42;\n');
  const run = (file: string, ...args: string[]) => execFileSync(file, args, { cwd: repo, stdio: 'ignore' });
  run('npm', 'install', '--package-lock-only', '--no-audit', '--no-fund');
  run('git', 'init', '-q');
  run('git', 'add', '-A');
  run('git', '-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-qm', 'x');
  await using workspaces = await createWorkspaces({ repo, scratch });
  const sandboxes = await createProcessSandboxProvider({ scratch });
  const config: EnvironmentConfig = {
    prepare: [{ kind: 'shell', script: INSTALL }],
    timeoutSeconds: 900,
    services: [],
  };
  const variables = prepareEnvironment(config, process.env);
  const bare = await workspaces.prepare(await resolveCommit(repo, 'HEAD'), []);
  const open = () =>
    openEnvironments({
      ...{ config, variables, workspaces, sandboxes, scratch },
      project: 'project',
      logs: join(work, 'logs'),
      mask: createMask([]),
      signal: new AbortController().signal,
      store: layerStore(join(work, 'environments')),
    });
  const began = performance.now();
  const first = await open();
  await first.equip(bare);
  const prepareSeconds = (performance.now() - began) / 1000;
  await first[Symbol.asyncDispose]();
  const later = performance.now();
  await using environments = await open();
  const equipped = await environments.equip(bare);
  const againSeconds = (performance.now() - later) / 1000;

  const inSandbox = async (workspace: Workspace, script: string) => {
    await using sandbox = await sandboxes.start({ workdir: workspace.path, ...workspace.place, env: {} });
    const { exitCode, stderr } = await sandbox.runShell(script, { env: variables.env });
    if (exitCode !== 0) throw new Error(`${script} failed: ${stderr}`);
  };
  let files = 0;
  const figuresOf = async (
    subject: string,
    snapshot: Snapshot,
    times: number,
    install?: (workspace: Workspace) => Promise<void>,
  ): Promise<EnvironmentFigures> => {
    const samples: Omit<EnvironmentFigures, 'subject'>[] = [];
    for (let round = 0; round < times; round++) {
      const before = diskUsed(scratch);
      const cpuBefore = cpuMs();
      const start = performance.now();
      await using workspace = await workspaces.create(snapshot);
      await install?.(workspace);
      const readyMs = performance.now() - start;
      const cpu = cpuMs() - cpuBefore;
      const diskBytes = diskUsed(scratch) - before;
      // A small setup, as a task may have besides.
      await mkdir(join(workspace.path, 'config'));
      await appendFile(join(workspace.path, 'config/settings.json'), '{}\n');
      const rebaseMs = await milliseconds(() => workspace.rebase());
      await appendFile(join(workspace.path, 'index.js'), '// edited\n');
      await mkdir(join(workspace.path, 'node_modules/.cache'), { recursive: true });
      await appendFile(join(workspace.path, 'node_modules/.cache/x'), 'x');
      const changesMs = await milliseconds(() => workspace.changes());
      files ||= readdirSync(join(workspace.path, 'node_modules'), { recursive: true }).length;
      samples.push({ readyMs, cpuMs: cpu, rebaseMs, changesMs, diskBytes });
    }
    const middle = (key: keyof Omit<EnvironmentFigures, 'subject'>) => median(samples.map((one) => one[key]));
    return {
      subject,
      readyMs: middle('readyMs'),
      cpuMs: middle('cpuMs'),
      rebaseMs: middle('rebaseMs'),
      changesMs: middle('changesMs'),
      diskBytes: middle('diskBytes'),
    };
  };
  return {
    figures: [
      await figuresOf('environment.prepare', equipped, rounds),
      await figuresOf('setup: [npm install]', bare, 1, (workspace) => inSandbox(workspace, INSTALL)),
    ],
    ...{ files, prepareSeconds, againSeconds, strategy: workspaces.strategy },
  };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + cpuSecondsOfChildren() * 1000;
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
