// The complete examples of the adapter reference, unchanged but for the package name. The functions that the examples leave
// to their reader are added below them. `npm run typecheck` compiles them in a strict project of their own.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test, vi } from 'vitest';
import { startAttempt } from '../__fixtures__/attempt.ts';
import type { Agent } from '../agent.ts';
import { driveAdapter } from './drive-adapter.ts';

const EXAMPLES = join(import.meta.dirname, '__fixtures__/reference-examples');
/** The second needs the types of a browser's `fetch`, in which the JSON of an answer is `any`: not imported by name. */
const load = async (name: string): Promise<Agent> => (await import(join(EXAMPLES, 'agents', name))).default;
const classify = await load('my-agent.ts');
const supportBot = await load('support-bot.ts');
const claudeCode = await load('claude-code.ts');

afterEach(() => {
  vi.unstubAllEnvs();
});

test('the in-process agent', async () => {
  await using attempt = await startAttempt('');
  expect(await driveAdapter(classify, { text: 'Is it?' }, attempt.context)).toMatchObject({
    status: 'completed',
    events: [{ type: 'message', role: 'assistant', text: '{"intent":"question"}' }],
    data: { intent: 'question' },
  });
});

test('the remote HTTP agent', async () => {
  const server = createServer(async (request, response) => {
    const { message } = JSON.parse(await text(request));
    const lookups = [{ id: '1', topic: message, found: 'page 7' }];
    response.end(JSON.stringify({ reply: `See page 7, ${request.url}.`, lookups, output: { page: 7 } }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  vi.stubEnv('SUPPORT_BOT_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await using attempt = await startAttempt('');
  const turn = await driveAdapter(supportBot, { text: 'refunds' }, attempt.context);
  server.close();
  expect(turn).toMatchObject({
    status: 'completed',
    events: [
      { type: 'action.called', input: { topic: 'refunds' } },
      { type: 'action.result', output: 'page 7' },
      { type: 'message', text: 'See page 7, /chat.' },
    ],
    data: { page: 7 },
  });
  expect(attempt.emitted).toEqual(turn.events);
});

/** Stands in for the command line, and writes a transcript as the real one does. */
const CLAUDE = `
mkdir -p ~/.claude/projects/-work
echo "$@" >> seen
cat > ~/.claude/projects/-work/session-1.jsonl <<END
{"type":"user","sessionId":"session-1","message":{"content":[]}}
{"type":"assistant","sessionId":"session-1","message":{"content":[{"type":"text","text":"key: $ANTHROPIC_API_KEY"}]}}
END
[ "$*" != "--print --dangerously-skip-permissions fail" ]`;

test.runIf(process.getuid?.() === 0)(
  'the claude-code adapter, over two turns',
  { tags: 'root' },
  async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', 'key-1');
    const session = { isNew: true };
    const npm = 'echo "npm $(id -u) $*" >> seen';
    await using attempt = await startAttempt(
      '',
      { session, flags: { webResearch: true } },
      { claude: CLAUDE, npm },
    );
    const first = await driveAdapter(claudeCode, { text: 'Do it.' }, { ...attempt.context, model: 'opus' });
    expect(first).toMatchObject({ status: 'completed', events: [{ type: 'message', text: 'key: key-1' }] });
    expect(session).toEqual({ isNew: true, id: 'session-1' });

    session.isNew = false;
    const second = await driveAdapter(claudeCode, { text: 'Go on.' }, { ...attempt.context, flags: {} });
    expect(second.status).toBe('completed');
    const failed = await driveAdapter(
      claudeCode,
      { text: 'fail' },
      { ...attempt.context, flags: {}, session: { isNew: true } },
    );
    expect(failed.status).toBe('failed');
    expect((await attempt.sandbox.readFile('seen')).split('\n')).toEqual([
      'npm 0 install -g @anthropic-ai/claude-code',
      '--print --dangerously-skip-permissions --model opus --allowedTools WebSearch,WebFetch Do it.',
      'npm 0 install -g @anthropic-ai/claude-code',
      '--print --dangerously-skip-permissions --resume session-1 Go on.',
      'npm 0 install -g @anthropic-ai/claude-code',
      '--print --dangerously-skip-permissions fail',
      '',
    ]);
  },
);

test.runIf(process.getuid?.() === 0)(
  'the claude-code adapter without its key: a variable is missing',
  { tags: 'root' },
  async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', '');
    await using attempt = await startAttempt('', {}, { npm: 'true', claude: 'true' });
    await expect(driveAdapter(claudeCode, { text: 'Do it.' }, attempt.context)).rejects.toMatchObject({
      code: 'agent-adapter-failed',
      message: expect.stringContaining('ANTHROPIC_API_KEY'),
    });
  },
);
