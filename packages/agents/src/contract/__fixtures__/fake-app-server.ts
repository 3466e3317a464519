/** The part of `codex app-server` that comes before and after a turn: its requests are answered as Codex answers them. */
import { existsSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { appServerUsage } from './app-server-format.ts';

type Request = { id?: number; method: string; params: Record<string, unknown> };

const sessions = join(process.env.HOME ?? '', '.fake-sessions');
const put = (message: object): void => console.log(JSON.stringify(message));

/** Answers until a turn begins. The arguments say what a program that runs a turn by itself is told in its own. */
export function openAppServer(): { prompt: string; args: string[] } {
  const args: string[] = [];
  for (let request = nextRequest(); request; request = nextRequest()) {
    const { id, method, params } = request;
    if (method.startsWith('thread/')) {
      const session = String(params.threadId ?? crypto.randomUUID());
      args.push(params.threadId === undefined ? '--session-id' : '--resume', session, JSON.stringify(params));
      put({ id, result: threadOf(session, params) });
      const turns = params.threadId !== undefined && existsSync(join(sessions, session));
      if (turns) put(appServerUsage(session, Number(readFileSync(join(sessions, session), 'utf8'))));
    } else if (method === 'turn/start') {
      const input = params.input as { text: string }[];
      put({ id, result: { turn: { id: 'turn-1', status: 'inProgress' } } });
      if (params.outputSchema) args.push('--output-schema', JSON.stringify(params.outputSchema));
      return { prompt: input.map(({ text }) => text).join(), args };
    } else if (id !== undefined) {
      put({ id, result: { userAgent: 'whetstone/0.169.0 (fake)' } });
    }
  }
  throw new Error('The input ended before a turn.');
}

/** Waits for the answer. Nothing else comes from a client in a turn. */
export function askClient(question: object): void {
  put(question);
  nextRequest();
}

/** Answers what comes after a turn, until the input ends. */
export function closeAppServer(): void {
  for (let request = nextRequest(); request; request = nextRequest()) put({ id: request.id, result: {} });
}

const threadOf = (id: string, params: Record<string, unknown>) => ({
  thread: { id, cliVersion: '0.169.0', preview: params.threadId === undefined ? '' : 'Play.', turns: [] },
  model: params.model ?? 'model-1',
  cwd: process.cwd(),
  approvalPolicy: params.approvalPolicy,
  sandbox: { type: 'workspaceWrite', networkAccess: false },
});

let unread = Buffer.alloc(0);

/** Reads synchronously, because what comes after a turn is read only then. `undefined` at the end of the input. */
function nextRequest(): Request | undefined {
  for (let end = unread.indexOf('\n'); ; end = unread.indexOf('\n')) {
    if (end !== -1) {
      const line = unread.subarray(0, end).toString('utf8');
      unread = unread.subarray(end + 1);
      return JSON.parse(line) as Request;
    }
    const chunk = Buffer.alloc(65_536);
    const length = readNow(chunk);
    if (length === 0) return undefined;
    unread = Buffer.concat([unread, chunk.subarray(0, length)]);
  }
}

/** Waits for input, also if the other end of the pipe made it one that does not block. */
function readNow(into: Buffer): number {
  for (;;) {
    try {
      return readSync(0, into);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
