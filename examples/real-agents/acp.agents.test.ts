import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DrivenAgentKind } from '@whetstone/agents/config';
import { deriveAgentMetadata, totalTokens } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { createGateway, defineScript, type ScriptStep } from '@whetstone/gateway';
import { describe, expect, test } from 'vitest';
import { type InstalledAgent, openAgent } from './drive-agent.ts';
import { modelCalls } from './model-calls.ts';
import { openSteps } from './play-steps.ts';
import { finalFiles, prompt, replies, script } from './task.ts';

const agents: readonly DrivenAgentKind[] = [
  ...(['gemini-cli', 'opencode-cli', 'qwen-code', 'copilot'] as const),
  // By the adapters of the protocol's makers.
  ...(['codex-cli', 'claude-code'] as const),
];

async function play(
  kind: DrivenAgentKind,
  played: typeof script,
  permissions: InstalledAgent['permissions'],
  turns = 1,
) {
  await using gateway = await createGateway();
  await using lane = await gateway.open({ owner: kind, mode: { kind: 'script', script: played } });
  await using session = await openAgent({ kind, protocol: 'acp', lane, ...present({ permissions }) });
  const done = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const { turn: ended, sessionId } = await session.turn(prompt, { timeoutMs: 150_000 });
    done.push({ ...ended, sessionId, metadata: deriveAgentMetadata(ended.events, ended.facts) });
  }
  return { turns: done, files: await session.files(), calls: modelCalls(lane.ledger) };
}

const GLOSSARY = join(
  import.meta.dirname,
  '../../packages/whetstone/src/cli/__fixtures__/context/glossary.ts',
);

/** One call, and then the last word. */
const one = (call: NonNullable<ScriptStep['calls']>[number]) =>
  defineScript({
    name: 'one call',
    play: ({ toolResults }) =>
      toolResults.length === 0 ? { text: 'I do.', calls: [call] } : { text: 'Done.' },
  });

describe.each(agents)('%s over the protocol', (kind) => {
  test('writes, runs, reads, edits and answers, and each question is answered by its permission', async () => {
    // Codex has a sandbox; the commands of the others run outside every other permission.
    const filesystem = kind === 'codex-cli' ? 'workspace' : 'full';
    const { turns, files, calls } = await play(kind, script, { shell: 'allow', filesystem });
    const [turn] = turns;
    expect(turn).toMatchObject({ status: 'completed', exit: { ended: 'exit' } });
    // Without a code where the host had to end it after the turn.
    expect([0, undefined]).toContain(turn?.exit?.exitCode);
    expect(files).toMatchObject(finalFiles);
    expect(calls.map(({ status }) => status)).toEqual(Array(replies).fill(200));
    expect(turn?.metadata).toMatchObject({
      ...{
        runtime: 'acp',
        runtimeVersion: expect.stringMatching(/^\d/),
        approvalPolicy: 'policy',
        errors: [],
      },
      commands: [{ command: 'sh greet.sh', status: 'completed' }],
    });
    expect(turn?.metadata.tools.map(({ status }) => status)).toEqual(Array(4).fill('completed'));
    const decided = turn?.metadata.approvals.map(({ decision, rule }) => `${decision} ${rule}`);
    const file = 'approved permissions.filesystem: full';
    // What the sandbox of Codex allows, it does not ask for.
    const asked = kind === 'codex-cli' ? [] : [file, 'approved permissions.shell: allow', file];
    expect(decided).toEqual(asked);
    const used = calls.reduce((sum, { usage }) => sum + (usage ? totalTokens(usage) : 0), 0);
    // OpenCode reports only its last model call.
    if (kind === 'opencode-cli') expect(turn?.usage).toBeUndefined();
    else expect(turn?.usage && totalTokens(turn.usage)).toBe(used);
  });

  test('resumes its session, and its second turn has only its own events', async () => {
    const hello = defineScript({
      name: 'hello',
      play: ({ userText }) => ({ text: `Hello ${userText.split('Write greet.sh').length - 1}.` }),
    });
    const { turns } = await play(kind, hello, undefined, 2);
    expect(turns.map(({ status }) => status)).toEqual(['completed', 'completed']);
    expect(turns[1]?.sessionId).toBe(turns[0]?.sessionId);
    const texts = turns.map(({ events }) => events.filter(({ type }) => type === 'message').length);
    expect(texts).toEqual([1, 1]);
  });

  test.each([
    ['a write', { tool: 'write', path: 'made.txt', content: 'x' }, 'permissions.filesystem: read-only'],
    ['a command', { tool: 'shell', command: 'touch made.txt' }, 'permissions.shell: off'],
  ] as const)(
    '%s that is not allowed does not happen, and is rejected with its rule',
    async (_, call, rule) => {
      // Without a shell, Gemini CLI offers none.
      const hasNoTool = kind === 'gemini-cli' && call.tool === 'shell';
      // The sandbox of Codex decides about commands.
      const shell = kind === 'codex-cli' ? 'allow' : 'off';
      const permissions = { filesystem: 'read-only', shell } as const;
      const { turns, files } = await play(kind, one(call), permissions);
      const [turn] = turns;
      expect(Object.keys(files)).toEqual(['README.md']);
      expect(turn?.facts?.permissions).toMatchObject(permissions);
      if (hasNoTool) return expect(turn?.exit?.message).toContain('no offered tool can do');
      expect(turn?.status).toBe('completed');
      // Codex leaves out calls that its sandbox stops at once.
      if (kind === 'codex-cli') return;
      expect(turn?.metadata.tools.map(({ status }) => status)).toEqual(['rejected']);
      expect(turn?.metadata.approvals).toMatchObject([{ decision: 'denied', by: 'policy', rule }]);
      const results = turn?.events.flatMap((event) => (event.type === 'action.result' ? event.status : []));
      expect(results).toEqual(['rejected']);
    },
  );
});

test.each(agents.filter((kind) => kind !== 'codex-cli'))(
  '%s runs no command that nobody allowed',
  async (kind) => {
    const command = `node -e "fs.writeFileSync('made.txt', '')"`;
    const { turns, files } = await play(kind, one({ tool: 'shell', command }), {});
    expect(Object.keys(files)).toEqual(['README.md']);
    const shell = kind === 'gemini-cli' ? 'off' : 'ask';
    expect(turns[0]?.facts).toMatchObject({ permissions: { filesystem: 'workspace', shell } });
    expect(turns[0]?.metadata.workingDir).toMatch(/workspace/);
  },
);

// The sandbox of Codex confines what is written only.
test.each(agents.filter((kind) => kind !== 'codex-cli'))(
  '%s does not read a file outside the workspace',
  async (kind) => {
    const { turns } = await play(kind, one({ tool: 'read', path: '/etc/hostname' }), undefined);
    const [tool] = turns[0]?.metadata.tools ?? [];
    expect(['rejected', 'failed']).toContain(tool?.status);
  },
);

// The others offer the tools of servers only after a search for them.
test.each(['gemini-cli', 'opencode-cli', 'copilot'] as const)(
  '%s calls the tool of a declared MCP server, which needs no rule',
  async (kind) => {
    const look = defineScript({
      name: 'look up',
      play({ tools, toolResults }) {
        const tool = tools.find(({ name }) => name.endsWith('lookup'));
        if (toolResults.length > 0 || !tool) return { text: 'Done.' };
        return { calls: [{ tool: 'native', name: tool.name, input: { word: 'tea' } }] };
      },
    });
    await using gateway = await createGateway();
    await using lane = await gateway.open({ owner: kind, mode: { kind: 'script', script: look } });
    const server = {
      kind: 'command' as const,
      name: 'glossary',
      command: process.execPath,
      args: [GLOSSARY],
    };
    const extra = { mcpServers: [{ ...server, env: { EDITION: 'second' } }] };
    await using session = await openAgent({ kind, protocol: 'acp', lane, extra });
    const { turn } = await session.turn(prompt, { timeoutMs: 100_000 });
    const { mcp, tools } = deriveAgentMetadata(turn.events, turn.facts);
    expect(mcp).toMatchObject([{ server: 'glossary', tool: 'lookup', status: 'completed' }]);
    if (kind !== 'gemini-cli') expect(JSON.stringify(tools)).toContain('see the second edition');
  },
);

test.each(['gemini-cli', 'opencode-cli'] as const)(
  '%s gives its model an image, a file that the prompt links to, and a skill',
  async (kind) => {
    const pixel =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const description = 'How to brew tea at noon.';
    const skill = `---\nname: brew-tea\ndescription: ${description}\n---\nBoil water.\n`;
    const file = { path: 'SKILL.md', content: skill };
    const skills = [{ name: 'brew-tea', description, text: skill, files: [file] }];
    const extra = { skills, files: { 'notes.txt': 'Noted.\n' } };
    await using session = await openSteps({ kind, protocol: 'acp', extra, settings: {} });
    writeFileSync(join(session.workspace, 'pixel.png'), Buffer.from(pixel, 'base64'));
    const parts = [
      { type: 'image', path: 'pixel.png' },
      { type: 'file', path: 'notes.txt' },
      { type: 'skill', name: 'brew-tea' },
    ];
    const { turn, asked } = await session.play([], { prompt: JSON.stringify(parts), timeoutMs: 100_000 });
    expect(turn.status).toBe('completed');
    for (const part of [pixel, 'notes.txt', description, 'Use the skill brew-tea.']) {
      expect(asked.includes(part), part).toBe(true);
    }
  },
);
