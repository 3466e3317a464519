import { StringDecoder } from 'node:string_decoder';
import { present } from '@whetstone/events/present';
import type {
  BackgroundProcess,
  ConnectedProcess,
  ProcessPoll,
  ProcessState,
  StartOptions,
} from '@whetstone/loop';
import type { RunOptions, Sandbox } from '@whetstone/sandbox';
import { CapturedOutput, KEPT_BYTES, OutputFile } from '@whetstone/sandbox';
import { connectSandboxProcess } from './sandbox-connection.ts';

const OUTPUT_FILE_BYTES = 64 * 1024 * 1024;

/** Starts a command in a sandbox that lives beside the calls of the loop, its output kept until it is asked for. */
export async function startSandboxProcess(
  sandbox: Sandbox,
  argv: readonly [string, ...string[]],
  { workingDirectory, outputFile, env, mask }: StartOptions & Pick<RunOptions, 'mask'>,
): Promise<BackgroundProcess> {
  const output = new UnreadOutput(
    outputFile === undefined ? undefined : new OutputFile(outputFile, OUTPUT_FILE_BYTES),
  );
  try {
    const process = await connectSandboxProcess(sandbox, argv, {
      onStdout: output.listener(),
      onStderr: output.listener(),
      ...present({ env, mask, cwd: workingDirectory }),
    });
    return new SandboxProcess(process, output);
  } catch (error) {
    // What never starts has no output to close but the file.
    await output.close();
    throw error;
  }
}

class SandboxProcess implements BackgroundProcess {
  readonly #process: ConnectedProcess;
  readonly #output: UnreadOutput;
  readonly #ended: Promise<void>;
  #state: ProcessState = { kind: 'running' };

  constructor(process: ConnectedProcess, output: UnreadOutput) {
    this.#process = process;
    this.#output = output;
    this.#ended = process.ended.then(async (state) => {
      await output.close();
      this.#state = state;
    });
  }

  get state(): ProcessState {
    return this.#state;
  }

  async poll({ waitMs = 0, signal }: { waitMs?: number; signal?: AbortSignal } = {}): Promise<ProcessPoll> {
    if (this.#state.kind === 'running' && waitMs > 0 && !signal?.aborted) await this.#wait(waitMs, signal);
    return { ...this.#output.take(), state: this.#state };
  }

  async #wait(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(over.resolve, waitMs);
    const stop = () => over.resolve();
    signal?.addEventListener('abort', stop, { once: true });
    await Promise.race([this.#ended, over.promise]);
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }

  write(text: string): Promise<void> {
    return this.#process.write(text);
  }

  async kill(): Promise<void> {
    await this.#process.kill();
    await this.#ended;
  }
}

/** What a command has printed since it was last asked, both streams as they came, bounded. */
class UnreadOutput {
  readonly #file: OutputFile | undefined;
  #captured = new CapturedOutput();
  #bytes = 0;

  constructor(file: OutputFile | undefined) {
    this.#file = file;
  }

  /** For one stream: only whole characters go in, because a poll may fall between the bytes of one. */
  listener(): (chunk: Buffer) => void {
    const decoder = new StringDecoder('utf8');
    return (chunk) => {
      this.#file?.write(chunk);
      const text = Buffer.from(decoder.write(chunk));
      this.#captured.append(text);
      this.#bytes += text.length;
    };
  }

  take(): { output: string; droppedBytes: number } {
    const taken = { output: this.#captured.text(), droppedBytes: Math.max(0, this.#bytes - KEPT_BYTES) };
    this.#captured = new CapturedOutput();
    this.#bytes = 0;
    return taken;
  }

  /** The file is a convenience for the model; that it cannot be written must not end the command. */
  async close(): Promise<void> {
    await this.#file?.close().catch(() => {});
  }
}
