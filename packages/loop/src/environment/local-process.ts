import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { StringDecoder } from 'node:string_decoder';
import { present } from '@whetstone/events/present';
import type { BackgroundProcess, ProcessPoll, ProcessState } from './execution-environment.ts';
import {
  drain,
  type Exit,
  endGroup,
  type LocalCommand,
  OUTPUT_LIMIT,
  release,
  spawnGroup,
  waitForExit,
} from './local-command.ts';
import { OutputCollector } from './output-collector.ts';
import { OutputFile } from './output-file.ts';

/** Starts a command with an open standard input that lives until it exits or is killed. Rejects where it cannot start. */
export async function startLocalProcess(
  command: LocalCommand,
  outputFile: string | undefined,
): Promise<BackgroundProcess> {
  const file = outputFile === undefined ? undefined : new OutputFile(outputFile);
  const child = spawnGroup(command, 'pipe');
  const exited = waitForExit(child);
  const running = new LocalProcess(child, exited, command.mark, file);
  if (child.pid === undefined) await exited;
  return running;
}

class LocalProcess implements BackgroundProcess {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #mark: string;
  readonly #ended: Promise<void>;
  #unread = new OutputCollector(OUTPUT_LIMIT);
  #state: ProcessState = { kind: 'running' };

  constructor(child: ChildProcess, exited: Promise<Exit>, mark: string, file: OutputFile | undefined) {
    this.#child = child;
    this.#mark = mark;
    // Without one it has not started, and nobody gets to see this object.
    this.pid = child.pid ?? -1;
    for (const stream of [child.stdout, child.stderr]) {
      // Whole characters only: a poll may fall between the bytes of one.
      const decoder = new StringDecoder('utf8');
      stream?.on('data', (chunk: Buffer) => {
        file?.write(chunk);
        this.#unread.push(Buffer.from(decoder.write(chunk)));
      });
      stream?.on('error', () => {});
    }
    // A write to a program that has just exited fails here too, after `write` has said so.
    child.stdin?.on('error', () => {});
    this.#ended = exited
      .then(async ({ exitCode, signal }) => {
        await drain(child);
        this.#state = {
          kind: 'exited',
          ...present({ exitCode, signal }),
        };
      })
      .catch(() => {})
      .finally(() => {
        file?.close();
        release(child);
      });
  }

  get state(): ProcessState {
    return this.#state;
  }

  async poll(options: { waitMs?: number; signal?: AbortSignal } = {}): Promise<ProcessPoll> {
    const { waitMs = 0, signal } = options;
    if (this.#state.kind === 'running' && waitMs > 0 && !signal?.aborted) await this.#wait(waitMs, signal);
    const unread = this.#unread;
    this.#unread = new OutputCollector(OUTPUT_LIMIT);
    return { output: unread.text(), droppedBytes: unread.droppedBytes, state: this.#state };
  }

  async #wait(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const stop = () => resolve();
    const timer = setTimeout(stop, waitMs);
    signal?.addEventListener('abort', stop, { once: true });
    await Promise.race([this.#ended, over]);
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }

  async write(text: string): Promise<void> {
    const { stdin } = this.#child;
    if (this.#state.kind === 'exited' || !stdin?.writable) throw new Error('the process has exited');
    if (!stdin.write(text)) await Promise.race([once(stdin, 'drain').catch(() => {}), this.#ended]);
  }

  async kill(): Promise<void> {
    if (this.#state.kind === 'exited') return;
    await endGroup(this.#child, this.#mark);
    await this.#ended;
  }
}
