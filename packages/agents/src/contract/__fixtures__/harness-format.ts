import type { Format } from './formats.ts';
import type { Refusal } from './refusals.ts';

let made = 0;
const nextId = (): string => `part_${(made += 1)}`;

/** What an adapter of the AI SDK's harness emits. */
export const harness: Format = {
  begin: () => [{ type: 'stream-start', modelId: 'model-1' }],
  work(_, said, command, output) {
    const call = { toolCallId: nextId(), toolName: 'bash' };
    return [
      ...text(said),
      { type: 'tool-call', ...call, input: JSON.stringify({ command }) },
      { type: 'tool-result', ...call, result: output },
      step,
    ];
  },
  done: (_, said) => [...text(said), step, { type: 'finish', finishReason: { unified: 'stop' } }],
  failed: (_, message) => [{ type: 'error', error: { message } }],
};

const step = {
  ...{ type: 'finish-step', finishReason: { unified: 'stop' } },
  usage: { inputTokens: { total: 10, noCache: 10 }, outputTokens: { total: 5 } },
};

function text(said: string): object[] {
  const id = nextId();
  return [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta: said },
    { type: 'text-end', id },
  ];
}

export function harnessRefusal(command: string, toolCallId: string): Refusal {
  const call = { toolCallId, toolName: 'bash' };
  return {
    before: [
      { type: 'tool-call', ...call, input: JSON.stringify({ command }) },
      { type: 'tool-approval-request', approvalId: 'approval_1', toolCallId },
    ],
    after: [{ type: 'tool-result', ...call, result: 'Denied.', isError: true }],
  };
}
