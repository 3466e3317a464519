import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Agent, createAgent, drivenAgents, openSession } from '@whetstone/agents';
import { drivenAgentKinds, instructionsRead, isInstructionFile } from '@whetstone/agents/config';
import { testedVersion } from '@whetstone/agents/install';
import { createGateway, defineScript, type Gateway, type Script } from '@whetstone/gateway';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KNOWN_MODELS, mayRunCommands } from './drive-agent.ts';
import { cacheFolder } from './install.ts';

/** Files that some agent reads, and files that one could read because they have such names. */
const NAMES = [
  '.claude/AGENTS.md',
  '.claude/CLAUDE.md',
  '.claude/rules/a/b.md',
  '.codex/AGENTS.md',
  '.codex/instructions.md',
  '.cursorrules',
  '.gemini/GEMINI.md',
  '.github/copilot-instructions.md',
  '.github/instructions/a/b.instructions.md',
  '.opencode/AGENTS.md',
  '.pi/AGENTS.md',
  '.pi/SYSTEM.md',
  '.qwen/QWEN.md',
  '.qwen/rules/a/b.md',
  'AGENT.md',
  'AGENTS.MD',
  'AGENTS.local.md',
  'AGENTS.md',
  'AGENTS.override.md',
  'CLAUDE.MD',
  'CLAUDE.local.md',
  'CLAUDE.md',
  'CONTEXT.md',
  'COPILOT.md',
  'GEMINI.md',
  'QWEN.md',
  'README.md',
];

const hello = defineScript({ name: 'hello', play: () => ({ text: 'Hello.' }) });
const readsBelow = defineScript({
  name: 'reads-below',
  play: ({ step }) =>
    step === 0 ? { calls: [{ tool: 'read', path: 'one/two/note.txt' }] } : { text: 'Done.' },
});
const below = (name: string): string => `one/two/${name}`;

let root: string;
let gateway: Gateway;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'instructions-'));
  gateway = await createGateway();
});
afterAll(async () => {
  await gateway.close();
  rmSync(root, { recursive: true, force: true });
});

const markOf = (name: string): string => `Planted as <${name}>.`;

/** The planted files that a request of the agent has, in their order there. */
async function readsOf(
  agent: Agent,
  names: readonly string[],
  script: Script = hello,
  more = '',
): Promise<string[]> {
  const workspace = mkdtempSync(join(root, 'w-'));
  for (const name of [...names, below('note.txt')]) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    const scope = name.endsWith('.instructions.md') ? '---\napplyTo: "**"\n---\n' : '';
    writeFileSync(join(workspace, name), `${scope}${markOf(name)}\n${more}`);
  }
  execFileSync('git', ['init', '--quiet'], { cwd: workspace });
  const bodies: string[] = [];
  await using lane = await gateway.open({
    owner: 'test',
    mode: { kind: 'script', script },
    onRequest: ({ body }) => bodies.push(Buffer.from(body).toString()),
  });
  await using session = await openSession(agent, { folder: workspace, lane: { ...lane, env: {} } });
  const turn = await session.send({ text: 'Say hello.' }, { timeoutMs: 90_000 });
  expect(turn.status, JSON.stringify(turn)).toBe('completed');
  if (script === readsBelow) expect(bodies.at(-1)).toContain(markOf(below('note.txt')));
  const seen = bodies.map((body) =>
    names
      .filter((name) => body.includes(markOf(name)))
      .sort((a, b) => body.indexOf(markOf(a)) - body.indexOf(markOf(b))),
  );
  return seen.reduce((most, one) => (one.length > most.length ? one : most), []);
}

describe.each(drivenAgentKinds)('%s', (kind) => {
  const { reads = [], readsBelow: isBelow = false, imports = false } = drivenAgents[kind].facts;
  let agent: Agent;
  beforeAll(async () => {
    const environment = { ...process.env, XDG_CACHE_HOME: cacheFolder };
    agent = await createAgent(
      {
        kind,
        version: testedVersion(drivenAgents[kind]),
        model: KNOWN_MODELS[kind],
        ...mayRunCommands(kind),
      },
      { environment, hasLanes: true },
    );
  });

  test('reads the files that its facts name, in that order, and no others', async () => {
    // A file can hide another one, so what was read is taken away until nothing is read.
    for (let left = [...NAMES]; ; ) {
      const read = await readsOf(agent, left);
      expect(read).toEqual(instructionsRead(reads, new Set(left)));
      expect(read.filter((name) => !isInstructionFile(name))).toEqual([]);
      if (read.length === 0) break;
      left = left.filter((name) => !read.includes(name));
    }
  });

  test(`${imports ? 'reads' : 'does not read'} a file that its own file names as @path`, async () => {
    const { instructions } = drivenAgents[kind].facts;
    const read = await readsOf(agent, [instructions, 'docs/extra.md'], hello, 'See @docs/extra.md\n');
    expect(read.sort()).toEqual([instructions, ...(imports ? ['docs/extra.md'] : [])]);
  });

  const hidden = reads.flatMap(({ path, hiddenBy = [] }) =>
    hiddenBy.length > 0 ? [{ path, hiddenBy }] : [],
  );
  test.each(hidden)('does not read $path beside one of $hiddenBy, only then', async ({ path, hiddenBy }) => {
    for (const other of hiddenBy) expect(await readsOf(agent, [path, other])).not.toContain(path);
    const others = NAMES.filter((name) => !hiddenBy.includes(name));
    expect(await readsOf(agent, others)).toContain(path);
  });

  test(`${isBelow ? 'reads the same' : 'reads none'} in a folder in which it opens a file`, async () => {
    for (let left = [...NAMES]; ; ) {
      const read = await readsOf(agent, left.map(below), readsBelow);
      const known = isBelow ? instructionsRead(reads, new Set(left)) : [];
      expect(read.sort()).toEqual(known.map(below).sort());
      if (read.length === 0) break;
      left = left.filter((name) => !read.includes(below(name)));
    }
  });
});
