import picomatch from 'picomatch';
import type { TaskConfig } from '../config/config.ts';
import type { CommandRow, HardCheckRow } from '../record/row.ts';
import type { Sandbox, SandboxProvider } from '../sandbox/sandbox.ts';
import type { Changes, Snapshot, Workspace, Workspaces } from '../workspace/workspace.ts';
import { checkCommands, checkTree } from './hard-checks.ts';
import { describeResult, runCommands, succeeded } from './run-commands.ts';

/**
 * The clean room. A pristine tree, the agent's changes and the hidden tests meet in a new workspace and a new sandbox
 * that the agent never saw; the verdict is the exit codes of commands that run there.
 */
export type Verification = {
  validation: 'passed' | 'failed' | 'skipped';
  commands: CommandRow[];
  hard: HardCheckRow[];
  hardStatus: 'not_configured' | 'passed' | 'failed';
  /** Protected paths that the agent's changes touched, for display; they are at the base here. */
  protectedTouched: string[];
  /** Set when the clean room itself could not do its work: the case is then missing data, not failed. */
  broken?: { class: 'verifier' | 'task'; evidence: string };
  /** What did not pass, one sentence, for the evidence of the outcome. */
  failure?: string;
};

export type VerifyInput = {
  task: TaskConfig;
  snapshot: Snapshot;
  changes: Changes;
  /** False when the agent did not end by itself with success: some hard checks need to know. */
  agentCompleted: boolean;
  workspaces: Workspaces;
  sandboxes: SandboxProvider;
  /** Where logs go; made when needed. */
  directory: string;
  signal: AbortSignal;
};

export async function verify(input: VerifyInput): Promise<Verification> {
  const { task, changes } = input;
  const isProtected = picomatch(task.protectedPaths, { dot: true });
  const protectedTouched = changes.files
    .flatMap((file) => (file.from === undefined ? [file.path] : [file.path, file.from]))
    .filter((path) => task.protectedPaths.length > 0 && isProtected(path));

  await using workspace = await input.workspaces.create(input.snapshot);
  await workspace.apply(changes, (path) => !protectedTouched.includes(path));
  if (task.hiddenTests !== undefined) await workspace.lay(task.hiddenTests);
  await using sandbox = await input.sandboxes.start({ workdir: workspace.path, env: {} });
  return await judge(input, workspace, sandbox, protectedTouched);
}

async function judge(
  input: VerifyInput,
  workspace: Workspace,
  sandbox: Sandbox,
  protectedTouched: string[],
): Promise<Verification> {
  const { task, changes } = input;
  const hardTree = await checkTree(task.hardEvaluation, workspace.path, changes, input.agentCompleted);
  const where = { directory: input.directory, signal: input.signal };
  const setup = await runCommands(sandbox, task.setup, { ...where, prefix: 'setup', stopAtFailure: true });
  const failedSetup = setup.find(({ result }) => !succeeded(result));
  if (failedSetup) {
    return {
      validation: 'failed',
      commands: setup.map(({ row }) => row),
      hard: hardTree,
      hardStatus: hardTree.length > 0 ? 'failed' : 'not_configured',
      protectedTouched,
      failure: `setup in the clean room: ${describeResult(failedSetup)}`,
    };
  }

  const validation = await runCommands(sandbox, task.validation.commands, {
    ...where,
    prefix: 'validation',
    stopAtFailure: false,
    ...(task.validation.timeoutSeconds === undefined
      ? {}
      : { timeoutMs: task.validation.timeoutSeconds * 1000 }),
  });
  const missing = validation.find(({ result }) => result.exitCode === 127 || result.exitCode === 126);
  const failed = validation.find(({ result }) => !succeeded(result));
  const status = validation.length === 0 ? 'skipped' : failed ? 'failed' : 'passed';
  const hardCommands = await checkCommands(task.hardEvaluation, sandbox, status, input.signal);
  const hard = [...hardTree, ...hardCommands];
  const failedCheck = hard.find((check) => check.status === 'failed');
  const failure = failed
    ? describeResult(failed)
    : failedCheck && `check ${failedCheck.name} failed: ${failedCheck.evidence}`;
  return {
    validation: status,
    commands: [...setup, ...validation].map(({ row }) => row),
    hard,
    hardStatus: hard.length === 0 ? 'not_configured' : failedCheck ? 'failed' : 'passed',
    protectedTouched,
    ...(missing && {
      broken: {
        class: 'verifier' as const,
        evidence: `${describeResult(missing)}: the command was not found or could not be run`,
      },
    }),
    ...(failure ? { failure } : {}),
  };
}
