/**
 * The part of the AI SDK's harness specification (`@ai-sdk/harness` 1.0, `harness-v1`) that drives an adapter for a turn.
 * Written down here, so that nothing of the AI SDK is installed for those who do not use it; the objects of its packages fit.
 */
export type Harness = {
  readonly specificationVersion: 'harness-v1';
  readonly harnessId: string;
  /** Of an adapter that installs a runtime in its sandbox, and talks to it over a port of the sandbox. */
  readonly getBootstrap?: unknown;
  doStart(options: HarnessStart): PromiseLike<HarnessSession>;
};

export type HarnessStart = {
  sessionId: string;
  sessionWorkDir: string;
  sandboxSession: HarnessSandbox;
  permissionMode: 'allow-all';
  abortSignal: AbortSignal;
  /** What `doStop` of an earlier session returned. */
  // biome-ignore lint/suspicious/noExplicitAny: only the adapter knows it
  resumeFrom?: any;
};

export type HarnessSession = {
  doPromptTurn(options: {
    prompt: string;
    model?: string;
    skills: readonly never[];
    tools: readonly never[];
    abortSignal: AbortSignal;
    emit: (part: HarnessPart) => void;
  }): PromiseLike<HarnessControl>;
  doStop(): PromiseLike<object>;
  doDestroy(): PromiseLike<void>;
};

export type HarnessControl = {
  submitToolApproval?(answer: { approvalId: string; approved: boolean; reason?: string }): PromiseLike<void>;
  readonly done: PromiseLike<void>;
};

/** A part of the stream. Its other fields depend on `type`. */
// biome-ignore lint/suspicious/noExplicitAny: parts are read field by field
export type HarnessPart = { readonly type: string } & Readonly<Record<string, any>>;

type At = { path: string; abortSignal?: AbortSignal };
type Command = {
  command: string;
  workingDirectory?: string;
  env?: Record<string, string>;
  abortSignal?: AbortSignal;
};

/** Where the tools of an adapter work (`SandboxSession` of the AI SDK). */
export type HarnessSandbox = {
  readonly description: string;
  readFile(at: At): Promise<ReadableStream<Uint8Array> | null>;
  readBinaryFile(at: At): Promise<Uint8Array | null>;
  readTextFile(at: At & { encoding?: string; startLine?: number; endLine?: number }): Promise<string | null>;
  writeFile(at: At & { content: ReadableStream<Uint8Array> }): Promise<void>;
  writeBinaryFile(at: At & { content: Uint8Array }): Promise<void>;
  writeTextFile(at: At & { content: string; encoding?: string }): Promise<void>;
  run(command: Command): Promise<{ exitCode: number; stdout: string; stderr: string }>;
  spawn(command: Command): Promise<{
    stdout: ReadableStream<Uint8Array>;
    stderr: ReadableStream<Uint8Array>;
    wait(): Promise<{ exitCode: number }>;
    kill(): Promise<void>;
  }>;
};
