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

/** What an agent read of the files that lay at the root of its workspace, and of the same below, in their order. */
type Reading = { planted: readonly string[]; read: readonly string[] };

/** The text that follows the mark of a file. */
type Texts = Readonly<Record<string, string>>;

/** The planted files that a request of the agent has, in their order there: of its request that has most. */
async function readsOf(
  agent: Agent,
  names: readonly string[],
  { script = hello, more = {} }: { script?: typeof hello; more?: Texts } = {},
): Promise<string[]> {
  const workspace = makeWorkspace(mkdtempSync(join(root, 'w-')));
  for (const name of [...names, below('note.txt')]) plant(workspace, [name], more[name]);
  const bodies = await requestsOf(agent, workspace, gateway, { script });
  if (script === readsBelow) expect(bodies.at(-1)).toContain(markOf(below('note.txt')));
  const seen = bodies.map((body) => plantedIn(body, names));
  return seen.reduce((most, one) => (one.length > most.length ? one : most), []);
}

const IMPORTED = 'docs/extra.md';

/** A file can hide another one, so what was read is taken away until nothing is read. */
async function readUntilNothing(agent: Agent, own: string): Promise<Reading[]> {
  const readings: Reading[] = [];
  for (let left = [...NAMES]; ; ) {
    const names = [...left, ...left.map(below), IMPORTED];
    const more = { [own]: `See @${IMPORTED}\n` };
    const read = await readsOf(agent, names, { script: readsBelow, more });
    readings.push({ planted: left, read });
    const remaining = left.filter((name) => !read.includes(name));
    if (remaining.length === left.length) return readings;
    left = remaining;
  }
}

/** What is true of the program is asked once of the kinds that start it and name the same files. */
const asked = new Set<unknown>();

describe.each(drivenAgentKinds)('%s', (kind) => {
  const { instructions, reads = [], readsBelow: isBelow = false, imports = false } = drivenAgents[kind].facts;
  let agent: Agent;
  let readings: Reading[];
  beforeAll(async () => {
    agent = await createReleased(kind);
    readings = await readUntilNothing(agent, instructions);
  });

  const place = isBelow ? 'and the same in a folder in which it opens a file' : 'and none below';
  test(`reads the files that its facts name, in that order, and no others, ${place}`, () => {
    for (const { planted, read } of readings) {
      const known = instructionsRead(reads, new Set(planted));
      const atRoot = read.filter((name) => planted.includes(name));
      expect(atRoot).toEqual(known);
      expect(atRoot.filter((name) => !isInstructionFile(name))).toEqual([]);
      const readBelow = read.filter((name) => !planted.includes(name) && name !== IMPORTED);
      expect(readBelow.sort()).toEqual(isBelow ? known.map(below).sort() : []);
    }
  });

  test(`${imports ? 'reads' : 'does not read'} a file that its own file names as @path`, () => {
    expect(readings.filter(({ read }) => read.includes(instructions))).toHaveLength(1);
    for (const { read } of readings) {
      expect(read.includes(IMPORTED)).toBe(imports && read.includes(instructions));
    }
  });

  const added: Reading[] = [];
  /** What it read where the file lay beside this one of those that hide it, or beside none of them. */
  async function readBeside(
    path: string,
    hiddenBy: readonly string[],
    beside?: string,
  ): Promise<readonly string[]> {
    const expected = hiddenBy.filter((name) => name === beside);
    const known = [...readings, ...added].find(
      ({ planted }) =>
        planted.includes(path) &&
        hiddenBy.filter((name) => planted.includes(name)).join() === expected.join(),
    );
    if (known) return known.read;
    const planted = NAMES.filter((name) => name === beside || !hiddenBy.includes(name));
    const read = await readsOf(agent, planted);
    added.push({ planted, read });
    return read;
  }

  const hidden = asked.has(reads) ? [] : reads.filter(({ hiddenBy = [] }) => hiddenBy.length > 0);
  asked.add(reads);
  test.each(hidden)(
    'does not read $path beside one of $hiddenBy, only then',
    async ({ path, hiddenBy = [] }) => {
      for (const other of hiddenBy) expect(await readBeside(path, hiddenBy, other)).not.toContain(path);
      expect(await readBeside(path, hiddenBy)).toContain(path);
    },
  );
});
