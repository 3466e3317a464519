import { pathsOf } from '../environment/environment-path.ts';
import type { BackgroundProcess, ExecutionEnvironment } from '../environment/execution-environment.ts';

/** Commands of one session that may run at once. */
const MAX_RUNNING = 32;

type Processes = Map<string, BackgroundProcess>;

/** By environment and session, so that the same tools may serve many sessions. */
const sessions = new WeakMap<ExecutionEnvironment, Map<string, Processes>>();

type Owner = { environment: ExecutionEnvironment; sessionId: string };

function processesOf({ environment, sessionId }: Owner): Processes {
  const ofEnvironment = sessions.get(environment) ?? new Map<string, Processes>();
  sessions.set(environment, ofEnvironment);
  const processes = ofEnvironment.get(sessionId) ?? new Map<string, BackgroundProcess>();
  ofEnvironment.set(sessionId, processes);
  return processes;
}

/** Keeps a process for later calls of the session under a number that it does not have yet. */
export function keepProcess(owner: Owner, process: BackgroundProcess): string {
  const processes = processesOf(owner);
  let id = '';
  do id = String(10_000 + Math.floor(Math.random() * 90_000));
  while (processes.has(id));
  processes.set(id, process);
  return id;
}

export function findProcess(owner: Owner, id: string): BackgroundProcess | undefined {
  return processesOf(owner).get(id);
}

export function forgetProcess(owner: Owner, id: string): void {
  processesOf(owner).delete(id);
}

/** Throws where the session has as many running commands as it may have. What has exited, oldest first, makes room. */
export function makeRoom(owner: Owner): void {
  const processes = processesOf(owner);
  for (const [id, { state }] of processes) {
    if (processes.size < MAX_RUNNING) return;
    if (state.kind === 'exited') processes.delete(id);
  }
  if (processes.size >= MAX_RUNNING)
    throw new Error(`${MAX_RUNNING} commands of this session still run; end one of them first.`);
}

export type BackgroundCommand = { id: string; pid?: number; outputFile: string };

/**
 * Starts a command whose output goes to a file that the model may read. It is ended after `timeoutMs` and with its
 * session. Throws where the environment has no background processes.
 */
export async function startInBackground(
  owner: Owner,
  command: string,
  { timeoutMs, workingDirectory }: { timeoutMs: number; workingDirectory?: string },
): Promise<BackgroundCommand> {
  const { environment } = owner;
  if (!environment.start || !environment.outputDirectory)
    throw new Error('commands cannot run in the background here; run it in the foreground');
  makeRoom(owner);
  const folder = await environment.outputDirectory();
  const outputFile = pathsOf(environment).join(folder, `${crypto.randomUUID()}.log`);
  const process = await environment.start(command, {
    outputFile,
    ...(workingDirectory === undefined ? {} : { workingDirectory }),
  });
  // Nobody polls it, so nothing but the clock can end it.
  void process.poll({ waitMs: timeoutMs }).then(({ state }) => {
    if (state.kind === 'running') void process.kill().catch(() => {});
  });
  const { pid } = process;
  return { id: keepProcess(owner, process), outputFile, ...(pid === undefined ? {} : { pid }) };
}

/** Ends all commands that a session left running. To be called when it closes; never rejects. */
export async function endSessionProcesses(
  environment: ExecutionEnvironment,
  sessionId: string,
): Promise<void> {
  const processes = sessions.get(environment)?.get(sessionId);
  sessions.get(environment)?.delete(sessionId);
  await Promise.allSettled([...(processes?.values() ?? [])].map((process) => process.kill()));
}
