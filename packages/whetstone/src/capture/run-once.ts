import { mkdir, mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DrivenAgent } from '@whetstone/agents';
import { createGateway, type LaneRequest, type LedgerLine, scriptFromSteps } from '@whetstone/gateway';
import type { CommandResult, Sandbox } from '@whetstone/sandbox';
import { removeTree, startSandboxProvider } from '@whetstone/sandbox';

/** What one run of an agent showed. */
export type AgentRun = {
  /** The output of `--version`. */
  version: CommandResult;
  turn: CommandResult;
  calls: readonly LedgerLine[];
  /** Its model requests, by call id. */
  requests: ReadonlyMap<string, LaneRequest>;
  /** Texts of this run that a request may contain, each with its replacement. */
  names: Record<string, string>;
};

const VERSION_LIMIT_MS = 60_000;
/** In milliseconds. Long, because some agents unpack themselves at their first run in a new HOME. */
const TURN_LIMIT_MS = 180_000;
/** In milliseconds: the time that an agent has to end by itself after its main request was answered. */
const GRACE_MS = 15_000;

/** Whether a call was answered and was about the task, not a title, a routing question or a probe. */
export const isMain = ({ status, step }: LedgerLine): boolean => status === 200 && step === 0;

/**
 * Runs an agent for one turn, in an empty repository and with its own HOME, against a scripted model that answers at
 * once. Everything that the agent made is removed when this settles.
 */
export async function runOnce(
  agent: DrivenAgent,
  { model, prompt, signal }: { model: string; prompt: string; signal?: AbortSignal },
): Promise<AgentRun> {
  await using folders = await makeCaptureFolders();
  const provider = await startSandboxProvider('process', { scratch: join(folders.root, 'scratch') });
  await using sandbox = await provider.start({ workdir: folders.workspace, env: {} });
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
    workingDirectory: folders.workspace,
  });
  for (const [path, content] of Object.entries(files)) await sandbox.writeFiles({ [`~/${path}`]: content });

  const stop = signal ?? new AbortController().signal;
  const run = (command: readonly string[], timeoutMs: number): Promise<CommandResult> => {
    const [program = '', ...args] = command;
    const anyStop = AbortSignal.any([stop, enough.signal]);
    return sandbox.runCommand(program, args, { env, timeoutMs, signal: anyStop });
  };
  const version = await run([agent.release.program, '--version'], VERSION_LIMIT_MS);
  const { args, stdin } = agent.launch.turn({ prompt, model, workingDirectory: folders.workspace });
  const turn = await run(await withInput(sandbox, [agent.release.program, ...args], stdin), TURN_LIMIT_MS);
  stop.throwIfAborted();
  await lane.close();
  return { version, turn, calls: lane.ledger, requests, names: folderNames(folders, sandbox.home) };
}

/** A command with a file as its standard input, because a sandbox gives it none. */
async function withInput(sandbox: Sandbox, command: string[], stdin: string | undefined): Promise<string[]> {
  if (stdin === undefined) return command;
  await sandbox.writeFiles({ '~/prompt.txt': stdin });
  return ['/bin/sh', '-c', 'exec "$@" < "$0"', join(sandbox.home, 'prompt.txt'), ...command];
}

/** A temporary folder with a workspace in it, by its real path, because agents put that path into their prompt. */
type CaptureFolders = { root: string; workspace: string };

async function makeCaptureFolders(): Promise<CaptureFolders & AsyncDisposable> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'whetstone-capture-')));
  const workspace = join(root, 'workspace');
  await mkdir(workspace);
  return { root, workspace, [Symbol.asyncDispose]: () => removeTree(root) };
}

const folderNames = ({ root, workspace }: CaptureFolders, home: string): Record<string, string> => ({
  [home]: '<home>',
  [slug(home)]: '<home-slug>',
  [workspace]: '<workspace>',
  [slug(workspace)]: '<workspace-slug>',
  [root]: '<temporary>',
});

/** The name of the workspace folder, after which agents name folders of their own. */
const slug = (path: string): string => path.replaceAll(/[^A-Za-z0-9]/g, '-');
