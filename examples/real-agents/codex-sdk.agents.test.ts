import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createAgent } from '@whetstone/agents';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AgentSettings } from './drive-agent.ts';
import { openSteps, type StepsPlay } from './play-steps.ts';

const open = (settings: AgentSettings = {}, extra = {}) =>
  openSteps({ kind: 'codex-sdk', settings, ...extra });
const shell = (command: string) => ({ calls: [{ tool: 'shell' as const, command }] });
const outputs = ({ turn }: StepsPlay) => JSON.stringify(turn.events);

/** A folder outside the workspace. Not below the temporary folder, which Codex lets every command write to. */
let outside: string;
beforeEach(() => {
  outside = mkdtempSync(join(homedir(), '.whetstone-outside-'));
});
afterEach(() => rmSync(outside, { recursive: true }));

test('it writes in its workspace and nowhere else, also not through a link', async () => {
  await using session = await open();
  symlinkSync(outside, join(session.workspace, 'link'));
  const played = await session.play([
    shell('echo here > made.txt'),
    shell(`echo there > ${outside}/made.txt`),
    shell('echo there > link/made.txt'),
    { calls: [{ tool: 'write', path: 'link/patched.txt', content: 'x\n' }] },
  ]);
  expect(played.turn.status).toBe('completed');
  expect((await session.files())['made.txt']).toBe('here\n');
  expect(readdirSync(outside)).toEqual([]);
  expect(played.turn.facts).toMatchObject({
    runtime: 'codex-sdk',
    runtimeVersion: '0.163.0',
    own: { sandbox: 'workspace-write', approvalPolicy: 'never' },
    approvalPolicy: 'never',
    permissions: { filesystem: 'workspace', network: 'off', apps: 'off' },
  });
});

test('a read-only agent reads the repository and changes nothing', async () => {
  await using session = await open({ permissions: { filesystem: 'read-only' } });
  const played = await session.play([shell('cat README.md'), shell('echo x > made.txt')]);
  expect(played.turn.status).toBe('completed');
  expect(outputs(played)).toContain('Greetings.');
  expect(await session.files()).toEqual({ 'README.md': 'Greetings.\n' });
  expect(played.turn.facts).toMatchObject({ own: { sandbox: 'read-only' } });
});

test('without a shell the model has no tool that runs commands', async () => {
  await using session = await open({ permissions: { shell: 'off' } });
  const { turn, asked } = await session.play([]);
  expect(turn.status).toBe('completed');
  expect(asked).not.toMatch(/"name":"(?:exec_command|shell|shell_command|local_shell|write_stdin)"/);
});

test.each(['off', 'open'] as const)(
  'commands reach the network only when it is open: %s',
  async (network) => {
    const server = createServer((_, response) => response.end('REACHED'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      await using session = await open({ permissions: { network } });
      const { port } = server.address() as { port: number };
      const script = `fetch('http://127.0.0.1:${port}').then(r=>r.text()).then(console.log,()=>console.log('NOT'))`;
      const played = await session.play([shell(`'${process.execPath}' -e "${script}"`)]);
      expect(outputs(played).includes('REACHED\\n')).toBe(network === 'open');
      expect(played.asked.includes('"web_search"')).toBe(network === 'open');
    } finally {
      server.close();
    }
  },
);

test('what cannot be enforced is refused before anything starts', async () => {
  const create = (settings: AgentSettings) =>
    createAgent({ kind: 'codex-sdk', ...settings }, { environment: process.env, hasLanes: true });
  for (const settings of [
    { permissions: { shell: 'ask' } },
    { permissions: { filesystem: 'full', network: 'off' } },
    { permissions: { filesystem: 'read-only', network: 'open' } },
    { policy: [{ allow: { command: 'ls' } }] },
  ] satisfies AgentSettings[]) {
    await expect(create(settings)).rejects.toMatchObject({ code: 'permission-unenforceable', exitCode: 2 });
  }
  await expect(create({ options: { no_such_option: 1 } })).rejects.toMatchObject({
    code: 'agent-option-unknown',
  });
});

test('commands see only the variables that the agent was given', async () => {
  process.env.SOMETHING_OF_THE_USER = 'canary-91d2';
  try {
    await using session = await open({}, { extra: { env: { GIVEN: 'given-value' } } });
    const played = await session.play([shell('env'), shell('cat /proc/self/environ')]);
    expect(outputs(played)).toContain('GIVEN=given-value');
    expect(played.asked).not.toContain('canary-91d2');
  } finally {
    delete process.env.SOMETHING_OF_THE_USER;
  }
});

test('a hook of the repository does not run', async () => {
  const hook = { hooks: [{ type: 'command', command: `touch ${outside}/hooked` }] };
  const hooks = JSON.stringify({ hooks: { SessionStart: [hook], PreToolUse: [hook] } });
  await using session = await open({}, { extra: { files: { '.codex/hooks.json': hooks } } });
  const { turn } = await session.play([shell('ls')]);
  expect(turn.status).toBe('completed');
  expect(existsSync(join(outside, 'hooked'))).toBe(false);
});

test('an image of the workspace reaches the model, one outside does not', async () => {
  const pixel =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  await using session = await open();
  for (const folder of [session.workspace, outside]) {
    writeFileSync(join(folder, 'pixel.png'), Buffer.from(pixel, 'base64'));
  }
  symlinkSync(join(outside, 'pixel.png'), join(session.workspace, 'link.png'));
  const prompt = (path: string) =>
    JSON.stringify([
      { type: 'text', text: 'Look.' },
      { type: 'image', path },
    ]);
  for (const path of ['link.png', join(outside, 'pixel.png')]) {
    const { turn, asked } = await session.play([], { prompt: prompt(path) });
    expect(turn.status).toBe('completed');
    expect(asked).not.toContain('input_image');
  }
  const { asked } = await session.play([], { prompt: prompt('pixel.png') });
  expect(asked).toContain('input_image');
});

test('a trace has the spans of Codex under the ids of the turn', async () => {
  const bodies: string[] = [];
  await using receiver = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => bodies.push(chunk.toString('latin1')));
    request.on('end', () => response.end('{}'));
  });
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  const { port } = receiver.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}/v1/traces`;
  await using session = await open({ options: { trace: { endpoint } } });
  const played = await session.play([shell('ls')], { prompt: 'A secret prompt.' });
  const { traceId = '', spanId = '' } = played.metadata.trace ?? {};
  expect(traceId).toMatch(/^[0-9a-f]{32}$/);
  const spans = bodies.join('');
  expect(spans).toContain(traceId);
  expect(spans).toContain(spanId);
  expect(spans).not.toContain('A secret prompt.');
});

test('each turn has its own usage, summed over its calls, and the session its id', async () => {
  await using session = await open();
  const turns = [await session.play([shell('ls'), shell('ls')]), await session.play([shell('ls')])];
  for (const { turn, calls, sessionId } of turns) {
    const wire = calls.reduce((sum, { usage }) => sum + (usage?.inputTokens ?? 0), 0);
    expect(turn.usage?.inputTokens).toBe(wire);
    expect(sessionId).toMatch(/^[0-9a-f-]{36}$/);
  }
  expect(turns[0]?.sessionId).toBe(turns[1]?.sessionId);
});

test.each(['codex-sdk', 'claude-agent-sdk'] as const)(
  'a process that stays serves each turn of its session: %s',
  async (kind) => {
    await using session = await openSteps({ kind, settings: { options: { reuse_process: true } } });
    const first = await session.play([], { prompt: 'My number is 4711.' });
    const second = await session.play([], { prompt: 'Which number?' });
    expect(second.turn.status).toBe('completed');
    expect(second.asked).toContain('My number is 4711.');
    expect(second.sessionId).toBe(first.sessionId);
    const wire = second.calls.reduce((sum, { usage }) => sum + (usage?.inputTokens ?? 0), 0);
    expect(second.turn.usage?.inputTokens).toBe(wire);
  },
);
