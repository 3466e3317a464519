import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { type Bridge, runBridge } from '../../kit/sdk-bridge.ts';
import type { SdkItem } from '../../kit/sdk-items.ts';

/** What the host asks of one turn; the options are those of the SDK, under its own names. */
export type CodexSdkRequest = {
  items: readonly SdkItem[];
  codex: object;
  thread: object;
  turn: object;
  /** The thread to resume. */
  resume?: string;
};

type CodexInput = { type: 'text'; text: string } | { type: 'local_image'; path: string };

type Thread = {
  runStreamed(input: CodexInput[], options: object): Promise<{ events: AsyncIterable<object> }>;
};

type CodexSdk = {
  Codex: new (
    options: object,
  ) => { startThread(options: object): Thread; resumeThread(id: string, options: object): Thread };
};

// The SDK keeps to itself what Codex writes to its standard error.
subscribe('child_process', (message) => {
  const { process: codex } = message as { process: ChildProcess };
  codex.once('spawn', () => codex.stderr?.pipe(process.stderr, { end: false }));
});

await runBridge(async ({ sdk, request, print, signal }: Bridge<CodexSdk, CodexSdkRequest>) => {
  const codex = new sdk.Codex(request.codex);
  const thread =
    request.resume === undefined
      ? codex.startThread(request.thread)
      : codex.resumeThread(request.resume, request.thread);
  const { events } = await thread.runStreamed(request.items.map(toInput), { ...request.turn, signal });
  for await (const event of events) await print(event);
});

function toInput(item: SdkItem): CodexInput {
  return item.type === 'text' ? item : { type: 'local_image', path: item.path };
}
