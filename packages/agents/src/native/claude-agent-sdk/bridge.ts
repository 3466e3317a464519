import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { mediaTypeOf } from '../../kit/media-type.ts';
import { type Bridge, runBridge } from '../../kit/sdk-bridge.ts';
import type { SdkItem } from '../../kit/sdk-items.ts';

/** What the host asks of one turn; `options` are those of the SDK, under its own names. */
export type ClaudeSdkRequest = {
  items: readonly SdkItem[];
  options: object;
};

/** The answer of the host to `{ callId, tool, input }`. `answers`: of a question, by its text. */
export type ClaudeSdkAnswer =
  | { behavior: 'allow'; answers?: Record<string, string> }
  | { behavior: 'deny'; message: string };

type ClaudeSdk = { query(call: { prompt: AsyncIterable<object>; options: object }): AsyncIterable<object> };
type Input = Readonly<Record<string, unknown>>;
type HookInput = { tool_name: string; tool_input: Input; tool_use_id: string };

await runBridge(async ({ sdk, request, print, ask, signal }: Bridge<ClaudeSdk, ClaudeSdkRequest>) => {
  const answers = new Map<string, Promise<ClaudeSdkAnswer>>();
  let printing = Promise.resolve();

  /**
   * Resolves when all that the SDK has read of Claude Code is printed. The SDK calls back at once, but its messages wait
   * until the one before is printed; so a question would come before its call, or after it, as the clock has it.
   */
  async function allPrinted(): Promise<void> {
    let last: Promise<void> | undefined;
    while (last !== printing) {
      last = printing;
      await last;
      await setImmediate();
    }
  }

  /** A call is asked once: the hook comes first, and for most calls the callback follows. */
  function decide(tool: string, input: Input, callId: string): Promise<ClaudeSdkAnswer> {
    const known = answers.get(callId);
    if (known) return known;
    const asked = allPrinted().then(() => ask({ callId, tool, input })) as Promise<ClaudeSdkAnswer>;
    answers.set(callId, asked);
    return asked;
  }

  /** Sees every call, also those that Claude Code allows without asking. */
  async function beforeTool({ tool_name, tool_input, tool_use_id }: HookInput): Promise<object> {
    const answer = await decide(tool_name, tool_input, tool_use_id);
    if (answer.behavior === 'allow') return {};
    return {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: answer.message,
      },
    };
  }

  async function canUseTool(tool: string, input: Input, about: { toolUseID: string }): Promise<object> {
    const answer = await decide(tool, input, about.toolUseID);
    if (answer.behavior === 'deny') return { behavior: 'deny', message: answer.message };
    const { answers: said } = answer;
    return { behavior: 'allow', updatedInput: said ? { ...input, answers: said } : input };
  }

  const aborted = new AbortController();
  signal.addEventListener('abort', () => aborted.abort());
  const turn = new AbortController();
  const messages = sdk.query({
    prompt: prompt(request.items, turn.signal),
    options: {
      ...request.options,
      cwd: process.cwd(),
      env: process.env,
      abortController: aborted,
      stderr: (text: string) => process.stderr.write(text),
      hooks: { PreToolUse: [{ hooks: [beforeTool] }] },
      canUseTool,
    },
  });
  for await (const message of messages) {
    printing = print(message);
    await printing;
    checkAgent(request.options, message as Initial);
    if ((message as { type?: unknown }).type === 'result') turn.abort();
  }
});

type Initial = { type?: string; subtype?: string; agents?: readonly string[] };

/** Claude Code answers itself in place of an agent that it does not have. */
function checkAgent({ agent }: { agent?: string }, { type, subtype, agents }: Initial): void {
  if (agent === undefined || type !== 'system' || subtype !== 'init') return;
  if (agents === undefined || agents.includes(agent)) return;
  throw new Error(`Claude Code has no agent ${agent}. It has: ${agents.join(', ')}.`);
}

/** One message. It stays open until the turn is over, because Claude Code ends with its input, and could not ask then. */
async function* prompt(items: readonly SdkItem[], over: AbortSignal): AsyncGenerator<object> {
  yield { type: 'user', message: { role: 'user', content: items.map(block) }, parent_tool_use_id: null };
  await new Promise((resolve) => over.addEventListener('abort', resolve));
}

function block(item: SdkItem): object {
  if (item.type === 'text') return item;
  const source = {
    type: 'base64',
    media_type: mediaTypeOf(item.path),
    data: readFileSync(item.path, 'base64'),
  };
  return { type: 'image', source };
}
