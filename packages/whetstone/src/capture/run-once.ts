import { mkdir, mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DrivenAgent } from '@whetstone/agents';
import { createGateway, type LaneRequest, type LedgerLine, scriptFromSteps } from '@whetstone/gateway';
import type { CommandResult, Sandbox } from '@whetstone/sandbox';
import { removeTree, startSandboxProvider } from '@whetstone/sandbox';

/** What was seen of an agent that ran once. */
export type AgentRun = {
  /** What it prints for `--version`. */
  version: CommandResult;
  turn: CommandResult;
  calls: readonly LedgerLine[];
  /** Its model requests, by the ids of their calls. */
  requests: ReadonlyMap<string, LaneRequest>;
  /** Texts of this run that a request may hold, and what stands for each. */
  names: Record<string, string>;
};

const VERSION_LIMIT_MS = 60_000;
/** Some agents unpack themselves at their first run in a new HOME. */
const TURN_LIMIT_MS = 180_000;
/** What an agent gets to end by itself once its main request has been answered. */
const GRACE_MS = 15_000;

/** Whether a call was answered, and was about the task: no title, no route, no probe. */
export const isMain = ({ status, step }: LedgerLine): boolean => status === 200 && step === 0;

/**
 * Runs an agent for one turn, in an empty repository and with a HOME of its own, against a scripted model that answers
 * at once. Everything that it made is gone when this settles.
 */
export async function runOnce(
  agent: DrivenAgent,
  { model, prompt, signal }: { model: string; prompt: string; signal?: AbortSignal },
): Promise<AgentRun> {
  await using place = await makePlace();
  const provider = await startSandboxProvider('process', { scratch: join(place.root, 'scratch') });
  await using sandbox = await provider.start({ workdir: place.workspace, env: {} });
  await sandbox.runCommand('git', ['init', '--quiet']);

  const requests = new Map<string, LaneRequest>();
  const enough = new AbortController();
  await using gateway = await createGateway();
  await using lane = await gateway.open({
    owner: 'capture',
    mode: { kind: 'script', script: scriptFromSteps('capture', [{ text: 'OK.' }]) },
    onRequest: (request) => requests.set(request.id, request),
    onCall(line) {
      if (isMain(line)) setTimeout(() => enough.abort(), GRACE_MS).unref();
    },
  });
  const { env, files } = agent.launch.settings({
    baseUrl: lane.baseUrl,
    key: lane.key,
    model,
    home: sandbox.home,
    workingDirectory: place.workspace,
  });
  for (const [path, content] of Object.entries(files)) await sandbox.writeFiles({ [`~/${path}`]: content });

  const stop = signal ?? new AbortController().signal;
  const run = (command: readonly string[], timeoutMs: number): Promise<CommandResult> => {
    const [program = '', ...args] = command;
    const anyStop = AbortSignal.any([stop, enough.signal]);
    return sandbox.runCommand(program, args, { env, timeoutMs, signal: anyStop });
  };
  const version = await run([agent.release.program, '--version'], VERSION_LIMIT_MS);
  const { args, stdin } = agent.launch.turn({ prompt, model, workingDirectory: place.workspace });
  const turn = await run(await withInput(sandbox, [agent.release.program, ...args], stdin), TURN_LIMIT_MS);
  stop.throwIfAborted();
  await lane.close();
  return { version, turn, calls: lane.ledger, requests, names: placeNames(place, sandbox.home) };
}

/** A command with a standard input, which a sandbox does not give. */
async function withInput(sandbox: Sandbox, command: string[], stdin: string | undefined): Promise<string[]> {
  if (stdin === undefined) return command;
  await sandbox.writeFiles({ '~/prompt.txt': stdin });
  return ['/bin/sh', '-c', 'exec "$@" < "$0"', join(sandbox.home, 'prompt.txt'), ...command];
}

/** A temporary folder with a workspace in it, under its real name: agents tell their model that one. */
type CaptureFolders = { root: string; workspace: string };

async function makePlace(): Promise<CaptureFolders & AsyncDisposable> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'whetstone-capture-')));
  const workspace = join(root, 'workspace');
  await mkdir(workspace);
  return { root, workspace, [Symbol.asyncDispose]: () => removeTree(root) };
}

const placeNames = ({ root, workspace }: CaptureFolders, home: string): Record<string, string> => ({
  [home]: '<home>',
  [slug(home)]: '<home-slug>',
  [workspace]: '<workspace>',
  [slug(workspace)]: '<workspace-slug>',
  [root]: '<temporary>',
});

/** Agents name folders of their own after that of the workspace. */
const slug = (path: string): string => path.replaceAll(/[^A-Za-z0-9]/g, '-');
