import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deriveAgentMetadata, replyText } from '@whetstone/events';
import { createGateway, defineScript, type ScriptStep } from '@whetstone/gateway';
import { expect, test } from 'vitest';
import { type InstalledAgent, openAgent } from './drive-agent.ts';

/** Plays steps to the released app-server, one per tool result, in one turn or more. */
async function play(steps: readonly ScriptStep[], asked: Partial<InstalledAgent>, prompts = ['Do it.']) {
  const heard: { text: string; tools: string[] }[] = [];
  const script = defineScript({
    name: 'app-server',
    play({ toolResults, text, tools, userText }) {
      heard.push({ text, tools: tools.map(({ name }) => name) });
      return steps[toolResults.length] ?? { text: `Done: ${userText}` };
    },
  });
  await using gateway = await createGateway();
  await using lane = await gateway.open({ owner: 'app-server', mode: { kind: 'script', script } });
  await using session = await openAgent({ kind: 'codex-app-server', lane, ...asked });
  const turns = [];
  for (const prompt of prompts) turns.push(await session.turn(prompt, { timeoutMs: 60_000 }));
  const [first] = turns;
  if (!first) throw new Error('There was no turn.');
  return {
    turns,
    heard,
    printed: turns.flatMap(({ printed }) => printed),
    turn: first.turn,
    metadata: deriveAgentMetadata(first.turn.events, first.turn.facts),
    files: await session.files(),
    ledger: lane.ledger,
  };
}

const shell = (command: string): ScriptStep => ({ calls: [{ tool: 'shell', command }] });
const escalated = (cmd: string): ScriptStep => ({
  calls: [
    {
      tool: 'native',
      name: 'exec_command',
      input: { cmd, sandbox_permissions: 'require_escalated', justification: 'I want out.' },
    },
  ],
});

test('by default each command is asked for, and declined', async () => {
  const steps = [shell('rm README.md'), escalated('touch /var/tmp/out'), shell('ls')];
  const { turn, metadata, files } = await play(steps, { permissions: {} });
  expect(turn.status).toBe('completed');
  expect(files).toHaveProperty('README.md');
  expect(metadata.commands.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(metadata.approvals).toHaveLength(3);
  for (const approval of metadata.approvals)
    expect(approval).toMatchObject({ decision: 'denied', by: 'policy' });
  expect(metadata).toMatchObject({
    approvalPolicy: 'policy',
    own: { approvalPolicy: 'untrusted', sandbox: 'workspace-write', network: 'disabled' },
  });
});

test('commands that may run stay in the sandbox, which none of them can leave', async () => {
  const out = '/var/tmp/whetstone-escaped';
  const steps = [
    shell('echo in > in.txt'),
    shell(`echo out > ${out}; cat ${out}`),
    escalated(`echo out > ${out}; cat ${out}`),
    shell('echo "key: $WHETSTONE_GATEWAY_KEY$OPENAI_API_KEY"'),
  ];
  const { turn, metadata, files } = await play(steps, { permissions: { shell: 'allow' } });
  expect(turn.status).toBe('completed');
  expect(files).toHaveProperty('in.txt', 'in\n');
  const outputs = JSON.stringify(metadata.tools.map(({ output }) => output));
  expect(outputs).toContain('Read-only file system');
  expect(outputs).toContain('key: \\n');
  // Codex reports no item for some commands that its sandbox stops; the rollout has them.
  expect(metadata.commands.map(({ command }) => command)).toEqual(
    expect.arrayContaining([expect.stringContaining(`echo out > ${out}`)]),
  );
});

test('a full file system does not open the network', async () => {
  const steps = [
    shell(
      'echo a > /var/tmp/whetstone-full; cat /var/tmp/whetstone-full; rm /var/tmp/whetstone-full; curl -sS -m 2 http://127.0.0.1:9',
    ),
  ];
  const { metadata } = await play(steps, {
    permissions: { shell: 'allow', filesystem: 'full', network: 'off' },
  });
  const output = JSON.stringify(metadata.tools[0]?.output);
  expect(output).toContain('a\\n');
  expect(output).not.toContain('refused');
  expect(metadata.own).toMatchObject({ sandbox: 'workspace-write', network: 'disabled' });
});

test('without a shell the model is offered none', async () => {
  const { heard, turn } = await play([], { permissions: { shell: 'off' } });
  expect(turn.status).toBe('completed');
  expect(heard[0]?.tools).not.toContain('exec_command');
  expect(heard[0]?.tools).not.toContain('web_search');
});

test('a read-only agent changes nothing', async () => {
  const steps: ScriptStep[] = [
    shell('echo a > a.txt'),
    { calls: [{ tool: 'write', path: 'b.txt', content: 'b' }] },
  ];
  const { files, metadata } = await play(steps, { permissions: { shell: 'allow', filesystem: 'read-only' } });
  expect(Object.keys(files)).toEqual(['README.md']);
  expect(metadata).toMatchObject({ own: { sandbox: 'read-only' }, fileChanges: [] });
  expect(metadata.tools.length).toBeGreaterThan(0);
});

test('the usage of a turn is that of all its model calls, also in a server that stays', async () => {
  const options = { reuse_server: true };
  const { turns, ledger, printed } = await play([shell('ls')], { options }, ['Once.', 'Twice.']);
  const [one = 0, two = 0, three = 0, four = 0] = ledger.map(({ usage }) => usage?.inputTokens ?? 0);
  expect(turns.map(({ turn }) => turn.usage?.inputTokens)).toEqual([one + two, three + four]);
  expect(turns.map(({ turn }) => turn.status)).toEqual(['completed', 'completed']);
  expect(turns[1]?.sessionId).toBe(turns[0]?.sessionId);
  expect(printed.filter(({ result }) => JSON.stringify(result ?? '').includes('userAgent'))).toHaveLength(1);
});

test('an archived thread goes on in the next turn', async () => {
  const { turns, heard } = await play([], { options: { cleanup: 'archive' } }, [
    'Remember zebra.',
    'What was it?',
  ]);
  expect(turns.map(({ turn }) => turn.status)).toEqual(['completed', 'completed']);
  expect(heard[1]?.text).toContain('Remember zebra.');
});

test('in plan mode Codex has the instructions of that mode, or those of the user', async () => {
  const collaboration_mode = 'plan';
  for (const options of [
    { collaboration_mode, effort: 'low' },
    { collaboration_mode, developer_instructions: 'Plan the tea.' },
  ]) {
    const { turn, heard } = await play([], { options });
    expect(turn.status).toBe('completed');
    const own = 'developer_instructions' in options;
    expect(heard[0]?.text).toContain(own ? 'Plan the tea.' : '# Plan Mode');
    if (own) expect(heard[0]?.text).not.toContain('# Plan Mode');
  }
});

test('a service tier that the model does not have ends the turn', async () => {
  const { turn, heard } = await play([], { options: { service_tier: 'no-such-tier' } });
  expect(turn.status).toBe('failed');
  expect(JSON.stringify(turn.events)).toContain('is not advertised as supported');
  expect(heard).toEqual([]);
});

test('the model hears what steers it, after the call that it names', async () => {
  const options = { steer: [{ after_calls: 1, text: 'Rather be brief.' }] };
  // The second command still runs while Codex is steered, so the next model call has not begun.
  const together: ScriptStep = {
    calls: [
      { tool: 'shell', command: 'ls' },
      { tool: 'shell', command: 'sleep 2' },
    ],
  };
  const afterOne = shell('cat README.md');
  const { heard, turn } = await play([together, afterOne, afterOne], { options });
  expect(heard.map(({ text }) => text.includes('Rather be brief.'))).toEqual([false, true, true]);
  expect(turn.events).toContainEqual(expect.objectContaining({ role: 'user', text: 'Rather be brief.' }));
});

test('a review is a turn', async () => {
  const review = {
    findings: [],
    overall_correctness: 'patch is correct',
    overall_explanation: 'It only greets.',
    overall_confidence_score: 1,
  };
  const { turn, heard, metadata } = await play([{ data: review }], {
    options: { review: 'uncommitted-changes' },
    extra: { files: { 'README.md': 'Greetings to all.\n' } },
  });
  expect(turn.status).toBe('completed');
  expect(heard[0]?.text).toContain('Review the current code changes');
  expect(replyText(turn.events)).toContain('It only greets.');
  expect(metadata.tools).toMatchObject([{ name: 'review', status: 'completed', output: 'It only greets.' }]);
});

test('what Codex offers is listed when it is asked for', async () => {
  const { turn, metadata } = await play([], {
    options: { discover: ['models', 'skills', 'plugins', 'apps'] },
  });
  expect(turn.status).toBe('completed');
  const { models, skills, plugins, apps } = metadata.discovered ?? {};
  expect(models).toContainEqual(expect.objectContaining({ model: expect.stringContaining('gpt') }));
  expect(skills).toContainEqual(expect.objectContaining({ scope: 'system', enabled: true }));
  for (const list of [plugins, apps]) expect(list === null || Array.isArray(list)).toBe(true);
  expect(JSON.stringify(metadata.discovered)).not.toContain('/');
});

test('a trace has the spans of Codex under the ids of the turn', async () => {
  const bodies: string[] = [];
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString('latin1'));
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/v1/traces`;
  try {
    const prompt = 'A secret prompt.';
    const { turn, metadata } = await play([shell('ls')], { options: { trace: { endpoint } } }, [prompt]);
    expect(turn.status).toBe('completed');
    const { traceId = '', spanId = '' } = metadata.trace ?? {};
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    const spans = bodies.join('\n');
    expect(spans).toContain(traceId);
    expect(spans).toContain(spanId);
    expect(spans).not.toContain(prompt);
  } finally {
    receiver.close();
  }
});

test('a time limit interrupts the turn before the server is ended', async () => {
  const script = defineScript({ name: 'slow', play: () => shell('echo begun; sleep 60') });
  await using gateway = await createGateway();
  await using lane = await gateway.open({ owner: 'slow', mode: { kind: 'script', script } });
  await using session = await openAgent({ kind: 'codex-app-server', lane });
  const { turn, printed } = await session.turn('Wait.', { timeoutMs: 4_000 });
  expect(turn).toMatchObject({ status: 'failed', exit: { ended: 'timeout', exitCode: 0 } });
  expect(JSON.stringify(printed.at(-1) ?? '')).not.toBe('');
  expect(JSON.stringify(printed)).toContain('"status":"interrupted"');
});
