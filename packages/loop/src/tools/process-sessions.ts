import { present } from '@whetstone/events/present';
import { pathsOf } from '../environment/environment-path.ts';
import type { BackgroundProcess } from '../environment/execution-environment.ts';
import { dropSessionState, type StateOwner, sessionState } from './session-state.ts';

/** Commands of one session that may run at once. */
const MAX_RUNNING = 32;

/** A command whose output nobody polls: it goes to a file. */
type InBackground = { command: string; outputFile: string };

const processesOf = sessionState(
  () => new Map<string, { process: BackgroundProcess; background?: InBackground }>(),
);

/** Keeps a process for later calls of the session under a number that it does not have yet. */
export function keepProcess(
  owner: StateOwner,
  process: BackgroundProcess,
  background?: InBackground,
): string {
  const processes = processesOf(owner);
  let id = '';
  do id = String(10_000 + Math.floor(Math.random() * 90_000));
  while (processes.has(id));
  processes.set(id, { process, ...present({ background }) });
  return id;
}

export function findProcess(owner: StateOwner, id: string): BackgroundProcess | undefined {
  return processesOf(owner).get(id)?.process;
}

export function forgetProcess(owner: StateOwner, id: string): void {
  processesOf(owner).delete(id);
}

/** Throws where the session has as many running commands as it may have. What has exited, oldest first, makes room. */
export function makeRoom(owner: StateOwner): void {
  const processes = processesOf(owner);
  for (const [id, { process }] of processes) {
    if (processes.size < MAX_RUNNING) return;
    if (process.state.kind === 'exited') processes.delete(id);
  }
  if (processes.size >= MAX_RUNNING)
    throw new Error(`${MAX_RUNNING} commands of this session are still running. End one of them first.`);
}

export type BackgroundCommand = { id: string; pid?: number; outputFile: string };

/** Starts a command with its output in a file; it ends after `timeoutMs` or with the session. Throws where it cannot. */
export async function startInBackground(
  owner: StateOwner,
  command: string,
  { timeoutMs, workingDirectory }: { timeoutMs: number; workingDirectory?: string },
): Promise<BackgroundCommand> {
  const { environment } = owner;
  if (!environment.start || !environment.outputDirectory)
    throw new Error('commands cannot run in the background here. Run it in the foreground');
  makeRoom(owner);
  const folder = await environment.outputDirectory();
  const outputFile = pathsOf(environment).join(folder, `${crypto.randomUUID()}.log`);
  const process = await environment.start(command, { outputFile, ...present({ workingDirectory }) });
  // Nobody polls it, so nothing but the clock can end it.
  void process.poll({ waitMs: timeoutMs }).then(({ state }) => {
    if (state.kind === 'running') void process.kill().catch(() => {});
  });
  const id = keepProcess(owner, process, { command, outputFile });
  return { id, outputFile, ...present({ pid: process.pid }) };
}

/** The commands that the session has started in the background, those that have exited too, oldest first. */
export function backgroundCommands(
  owner: StateOwner,
): (BackgroundCommand & Pick<InBackground, 'command'> & Pick<BackgroundProcess, 'state'>)[] {
  return [...processesOf(owner)].flatMap(([id, { process, background }]) => {
    const { pid, state } = process;
    return background ? [{ id, ...background, state, ...present({ pid }) }] : [];
  });
}

/** Ends all commands of a session that closes, with what they have left running, and forgets what its tools have kept. Never rejects. */
export async function endSessionProcesses(owner: StateOwner): Promise<void> {
  const processes = [...processesOf(owner).values()];
  dropSessionState(owner);
  await Promise.allSettled([
    ...processes.map(({ process }) => process.kill()),
    owner.environment.endCommandsOf?.(owner.sessionId),
  ]);
}
