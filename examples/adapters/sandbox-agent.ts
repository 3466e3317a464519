// An agent that is a command line in the sandbox and keeps a transcript of its session, one JSON object per line.
import { defineSandboxAgent, type StreamEvent, shared } from 'whetstone/adapter';

export default defineSandboxAgent({
  name: 'sandbox-agent',
  capabilities: { conversation: true, toolObservability: true },
  async send(input, ctx) {
    const args = ctx.model ? ['--model', ctx.model] : [];
    if (!ctx.session.isNew && ctx.session.id) args.push('--resume', ctx.session.id);
    const { exitCode, stderr } = await ctx.sandbox.runCommand('tiny-agent', [...args, input.text]);
    if (exitCode !== 0) ctx.log(stderr);
    const transcript = await shared.captureLatestJsonl(ctx.sandbox, '~/.tiny-agent/sessions');
    const items = transcript
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    ctx.session.id = items[0]?.session;
    return { events: items.flatMap(toEvents), status: exitCode === 0 ? 'completed' : 'failed' };
  },
});

function toEvents(item: Record<string, string>): StreamEvent[] {
  const { kind, id: callId = '', text = '', command = '', output = '' } = item;
  if (kind === 'said') return [{ type: 'message', role: 'assistant', text }];
  if (kind !== 'ran') return [{ type: 'raw', native: item }];
  return [
    { type: 'action.called', callId, name: 'shell', input: { command } },
    { type: 'action.result', callId, status: 'completed', output },
  ];
}
