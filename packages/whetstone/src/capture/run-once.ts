import { mkdir, readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createAgent, type KnownDrivenAgent, openSession, type Turn } from '@whetstone/agents';
import { startOf } from '@whetstone/agents/install';
import { present } from '@whetstone/events/present';
import { createGateway, type LaneRequest, type LedgerLine, scriptFromSteps } from '@whetstone/gateway';
import type { CommandResult } from '@whetstone/sandbox';
import { checkParents } from '../workspace/check-parents.ts';
import { makeScratch } from '../workspace/scratch-folder.ts';

/** What one run of an agent showed. */
export type AgentRun = {
  version: CommandResult;
  turn: Turn;
  /** What it printed in the turn: its errors, else its output. */
  printed: string;
  calls: readonly LedgerLine[];
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

/** One turn in an empty repository with its own HOME and a scripted model. Settles when all of it is removed. */
export async function runOnce(
  driven: KnownDrivenAgent,
  {
    model,
    programFile,
    prompt,
    signal,
  }: { model?: string; programFile: string; prompt: string; signal: AbortSignal },
): Promise<AgentRun> {
  await using folder = await makeFolder();
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
  const agent = await createAgent({ kind: driven.kind, ...present({ model }) }, { hasLanes: true });
  await using session = await openSession(agent, { folder: folder.workspace, lane, signal });
  const { sandbox, files } = session;
  await sandbox.runCommand('git', ['init', '--quiet']);
  const turn = await session.send(prompt, { timeoutMs: TURN_LIMIT_MS, signal: enough.signal });
  // Behind the turn, which has put the agent's settings into its home.
  const [file, ...args] = startOf(driven, programFile);
  const version = await sandbox.runCommand(file, [...args, '--version'], {
    timeoutMs: VERSION_LIMIT_MS,
    signal,
  });
  signal.throwIfAborted();
  await lane.close();
  return {
    ...{ version, turn, requests, calls: lane.ledger },
    printed: (await textOf(files.stderrFile)) || (await textOf(files.stdoutFile)),
    names: {
      [sandbox.home]: '<home>',
      [slug(sandbox.home)]: '<home-slug>',
      [folder.workspace]: '<workspace>',
      [slug(folder.workspace)]: '<workspace-slug>',
      [folder.root]: '<temporary>',
      [dirname(files.stdoutFile)]: '<temporary>',
    },
  };
}

/**
 * A temporary folder with a workspace in it, under its real name: agents report that one to their model. Nothing of the
 * machine is in the folders above it.
 */
async function makeFolder(): Promise<{ root: string; workspace: string } & AsyncDisposable> {
  const scratch = await makeScratch();
  try {
    checkParents(scratch.directory);
    const root = join(await realpath(scratch.directory), 'capture');
    const workspace = join(root, 'workspace');
    await mkdir(workspace, { recursive: true });
    return { root, workspace, [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose]() };
  } catch (error) {
    await scratch[Symbol.asyncDispose]();
    throw error;
  }
}

const textOf = async (file: string): Promise<string> => (await readFile(file, 'utf8').catch(() => '')).trim();

/** The name of the workspace folder, after which agents name folders of their own. */
const slug = (path: string): string => path.replaceAll(/[^A-Za-z0-9]/g, '-');
