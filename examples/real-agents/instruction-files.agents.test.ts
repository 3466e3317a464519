import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Agent, drivenAgents } from '@whetstone/agents';
import { drivenAgentKinds, instructionsRead, isInstructionFile } from '@whetstone/agents/config';
import { createGateway, defineScript, type Gateway } from '@whetstone/gateway';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createReleased,
  hello,
  makeWorkspace,
  markOf,
  plant,
  plantedIn,
  requestsOf,
} from './planted-files.ts';

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

/** The planted files that a request of the agent has, in their order there: of its request that has most. */
async function readsOf(agent: Agent, names: readonly string[], script = hello, more = ''): Promise<string[]> {
  const workspace = makeWorkspace(mkdtempSync(join(root, 'w-')));
  plant(workspace, [...names, below('note.txt')], more);
  const bodies = await requestsOf(agent, workspace, gateway, { script });
  if (script === readsBelow) expect(bodies.at(-1)).toContain(markOf(below('note.txt')));
  const seen = bodies.map((body) => plantedIn(body, names));
  return seen.reduce((most, one) => (one.length > most.length ? one : most), []);
}

/** What is true of the program is asked once of the kinds that start it and name the same files. */
const asked = new Set<unknown>();

describe.each(drivenAgentKinds)('%s', (kind) => {
  const { reads = [], readsBelow: isBelow = false, imports = false } = drivenAgents[kind].facts;
  let agent: Agent;
  beforeAll(async () => {
    agent = await createReleased(kind);
  });

  const place = isBelow ? 'and the same in a folder in which it opens a file' : 'and none below';
  test(`reads the files that its facts name, in that order, and no others, ${place}`, async () => {
    // A file can hide another one, so what was read is taken away until nothing is read.
    for (let left = [...NAMES]; ; ) {
      const read = await readsOf(agent, [...left, ...left.map(below)], readsBelow);
      const known = instructionsRead(reads, new Set(left));
      const atRoot = read.filter((name) => left.includes(name));
      expect(atRoot).toEqual(known);
      expect(atRoot.filter((name) => !isInstructionFile(name))).toEqual([]);
      const readBelow = read.filter((name) => !left.includes(name));
      expect(readBelow.sort()).toEqual(isBelow ? known.map(below).sort() : []);
      if (read.length === 0) break;
      left = left.filter((name) => !read.includes(name));
    }
  });

  test(`${imports ? 'reads' : 'does not read'} a file that its own file names as @path`, async () => {
    const { instructions } = drivenAgents[kind].facts;
    const read = await readsOf(agent, [instructions, 'docs/extra.md'], hello, 'See @docs/extra.md\n');
    expect(read.sort()).toEqual([instructions, ...(imports ? ['docs/extra.md'] : [])]);
  });

  const hidden = asked.has(reads) ? [] : reads.filter(({ hiddenBy = [] }) => hiddenBy.length > 0);
  asked.add(reads);
  test.each(hidden)(
    'does not read $path beside one of $hiddenBy, only then',
    async ({ path, hiddenBy = [] }) => {
      for (const other of hiddenBy) expect(await readsOf(agent, [path, other])).not.toContain(path);
      const others = NAMES.filter((name) => !hiddenBy.includes(name));
      expect(await readsOf(agent, others)).toContain(path);
    },
  );
});
