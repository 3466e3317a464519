import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type DrivenAgentKind,
  drivenAgentKinds,
  drivenAgents,
  type Permissions,
} from '@whetstone/agents/config';
import { deriveAgentMetadata } from '@whetstone/events';
import { createGateway, defineScript, type ScriptCall } from '@whetstone/gateway';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAgent } from './drive-agent.ts';

let outside: string;
beforeAll(async () => {
  // Not in /tmp, which some sandboxes leave open.
  await mkdir('/var/tmp', { recursive: true });
  outside = await mkdtemp(join(process.platform === 'linux' ? '/var/tmp' : tmpdir(), 'outside-'));
});
afterAll(() => rm(outside, { recursive: true, force: true }));

const SHELL = /^(?:exec_command|Bash|bash|run_shell_command)$/;
const WRITE = /^(?:write_file|Write|write|create|apply_patch)$/;

/** A model that tries everything that it is offered, one call after the other. */
const attempts = (calls: readonly ScriptCall[]) =>
  defineScript({
    name: 'attempts',
    play({ toolResults, tools }) {
      const can = (pattern: RegExp) => tools.some(({ name }) => pattern.test(name));
      const open = calls.filter(({ tool }) => can(SHELL) || (tool === 'write' && can(WRITE)));
      const call = open[toolResults.length];
      return call ? { calls: [call] } : { text: 'I tried.' };
    },
  });

async function tryOut(kind: DrivenAgentKind, permissions: Partial<Permissions>) {
  const link = join(outside, kind);
  await mkdir(link, { recursive: true });
  const script = attempts([
    { tool: 'write', path: 'inside.txt', content: 'a\n' },
    { tool: 'write', path: join(outside, 'absolute.txt'), content: 'a\n' },
    { tool: 'write', path: '../above.txt', content: 'a\n' },
    { tool: 'write', path: 'link/linked.txt', content: 'a\n' },
    { tool: 'shell', command: 'echo a > shell.txt' },
    { tool: 'shell', command: `echo a > ${outside}/shell.txt` },
    { tool: 'shell', command: '(: < /dev/tcp/127.0.0.1/$PORT) 2>&1; true' },
    { tool: 'shell', command: 'printenv USERS_SECRET || echo absent' },
  ]);
  await using gateway = await createGateway();
  await using lane = await gateway.open({ owner: kind, mode: { kind: 'script', script } });
  const extra = { links: { link }, env: { PORT: new URL(lane.baseUrl).port } };
  process.env.USERS_SECRET = 'of-the-user';
  try {
    await using session = await openAgent({ kind, lane, permissions, extra });
    const { turn } = await session.turn('Try it all.', { timeoutMs: 90_000 });
    expect(turn.status, turn.exit?.message).toBe('completed');
    const escaped = [...(await readdir(outside, { recursive: true }))].filter((path) =>
      path.endsWith('.txt'),
    );
    for (const path of escaped) await rm(join(outside, path));
    const above = existsSync(join(session.workspace, '../above.txt'));
    return {
      inside: Object.keys(await session.files()).filter((name) => name !== 'README.md'),
      escaped: [...escaped, ...(above ? ['above.txt'] : [])],
      metadata: deriveAgentMetadata(turn.events, turn.facts),
    };
  } finally {
    delete process.env.USERS_SECRET;
  }
}

const closed = { shell: 'off', network: 'off' } as const;

test.each(drivenAgentKinds)(
  '%s writes nothing when the file system is read-only and there is no shell',
  async (kind) => {
    const { inside, escaped, metadata } = await tryOut(kind, { ...closed, filesystem: 'read-only' });
    expect([...inside, ...escaped]).toEqual([]);
    expect(metadata.permissions).toMatchObject({
      ...closed,
      filesystem: 'read-only',
      environment: 'minimal',
    });
    expect(JSON.stringify(metadata)).not.toContain('of-the-user');
  },
);

const confined = drivenAgentKinds.filter((kind) =>
  drivenAgents[kind].facts.enforces?.filesystem?.includes('workspace'),
);

test.each(confined)('%s writes in its workspace only, also through links', async (kind) => {
  const { inside, escaped, metadata } = await tryOut(kind, { ...closed, filesystem: 'workspace' });
  expect(inside).toEqual(['inside.txt']);
  expect(escaped).toEqual([]);
  // What was refused has a decision that says who made it.
  for (const { callId } of metadata.tools.filter(({ status }) => status === 'rejected')) {
    expect(metadata.approvals).toContainEqual(
      expect.objectContaining({
        callId,
        decision: 'denied',
        by: expect.stringMatching(/^(?:agent|policy)$/),
      }),
    );
  }
});

test('the commands of codex-cli write in the workspace only, and reach no network', async () => {
  const { inside, escaped, metadata } = await tryOut('codex-cli', {
    filesystem: 'workspace',
    network: 'off',
  });
  expect(inside.sort()).toEqual(['inside.txt', 'shell.txt']);
  expect(escaped).toEqual([]);
  const outputs = JSON.stringify(metadata.tools);
  expect(outputs).toContain('Operation not permitted');
  expect(outputs).toContain('absent');
});

test('an agent without permissions of its own may do everything, and its record says so', async () => {
  const { inside, escaped, metadata } = await tryOut('pi', {});
  expect(inside.sort()).toEqual(['inside.txt', 'shell.txt']);
  expect(escaped.sort()).toEqual(['above.txt', 'absolute.txt', 'pi/linked.txt', 'shell.txt']);
  expect(metadata.permissions).toEqual({
    ...{ filesystem: 'full', shell: 'allow', network: 'open', apps: 'allow', environment: 'minimal' },
  });
});
