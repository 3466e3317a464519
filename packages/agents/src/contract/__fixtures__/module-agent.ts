import { present } from '@whetstone/events/present';
import { defineSandboxAgent, type StreamEvent } from '../../index.ts';

/** An adapter as a user writes one: it runs a program that prints events, and passes on what it reads. */
export default defineSandboxAgent({
  name: 'contract-module',
  capabilities: { conversation: true, toolObservability: true, structuredOutput: true },
  async send(input, ctx) {
    const args = ['events', '--prompt-file', ctx.files.promptFile, '--model', ctx.model ?? 'default'];
    if (!ctx.session.isNew && ctx.session.id) args.push('--resume', ctx.session.id);
    if (input.outputSchema) args.push('--json-schema', JSON.stringify(input.outputSchema));
    let rest = '';
    const items: unknown[] = [];
    const decoder = new TextDecoder();
    const read = (text: string): void => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      items.push(...lines.filter((line) => line.trim() !== '').map(parse));
    };
    const { exitCode, stderr } = await ctx.sandbox.runCommand('fake-agent', args, {
      onStdout: (chunk) => read(decoder.decode(chunk, { stream: true })),
      stdoutFile: ctx.files.stdoutFile,
    });
    read('\n');
    const last = items.findLast(isEnd);
    const events = items.filter((item) => !isEnd(item)) as StreamEvent[];
    const started = events.find((event) => event?.type === 'session.started');
    if (started?.type === 'session.started' && started.sessionId !== undefined) {
      ctx.session.id = started.sessionId;
    }
    if (last) return { events, status: last.ended, ...present({ data: last.data }), exit: { ended: 'exit', exitCode } };
    const message = `The program ended with exit code ${exitCode}.\n${stderr}`;
    events.push({ type: 'error', message });
    return { events, status: 'failed', exit: { ended: 'exit', exitCode, message } };
  },
});

type End = { ended: 'completed' | 'failed'; data?: unknown };
const isEnd = (item: unknown): item is End => typeof item === 'object' && item !== null && 'ended' in item;

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return { type: 'raw', native: line };
  }
}
