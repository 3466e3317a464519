import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { drivenAgents } from '@whetstone/agents';
import { type DrivenAgentKind, drivenAgentKinds } from '@whetstone/agents/config';
import { createGateway, defineScript, type Gateway, type Script } from '@whetstone/gateway';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KNOWN_MODELS, quickStart } from './drive-agent.ts';
import { cacheFolder } from './install.ts';
import { createReleased, keepingLane, makeWorkspace, plant, plantedIn, requestsOf } from './planted-files.ts';

/** Files that some agent could read. `.env` and `.mcp.json` are settings, which no request shows. */
const NAMES = [
  '.claude/AGENTS.md',
  '.claude/CLAUDE.md',
  '.claude/rules/a.md',
  '.codex/instructions.md',
  '.gemini/GEMINI.md',
  '.github/copilot-instructions.md',
  '.github/instructions/a.instructions.md',
  '.qwen/QWEN.md',
  '.qwen/rules/a.md',
  'AGENTS.MD',
  'AGENTS.md',
  'AGENTS.override.md',
  'CLAUDE.MD',
  'CLAUDE.local.md',
  'CLAUDE.md',
  'CONTEXT.md',
  'GEMINI.md',
  'QWEN.md',
];
const SETTINGS = ['.env', '.mcp.json', '.gemini/.env', '.qwen/.env'];
const BIN = join(import.meta.dirname, '../../packages/whetstone/bin/whetstone.js');
const INDEX = join(import.meta.dirname, '../../packages/whetstone/src/index.ts');

let root: string;
let gateway: Gateway;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'above-'));
  gateway = await createGateway();
});
afterEach(async () => {
  await gateway.close();
  rmSync(root, { recursive: true, force: true });
});

/** What the agent reads in two folders above its workspace. A file can hide another, so what was read is taken away. */
async function readAbove(kind: DrivenAgentKind): Promise<string[]> {
  const workspace = makeWorkspace(join(root, 'near/workspace'));
  const above = [root, join(root, 'near')];
  for (const folder of above) plant(folder, NAMES);
  const agent = await createReleased(kind);
  const all: string[] = [];
  for (;;) {
    const bodies = await requestsOf(agent, workspace, gateway, { above: 'allowed' });
    const read = plantedIn(bodies.join('\n'), NAMES);
    if (read.length === 0) return all.sort();
    all.push(...read);
    for (const folder of above) for (const name of read) rmSync(join(folder, name));
  }
}

describe('what released agents read in the folders above their workspace', () => {
  test.each(drivenAgentKinds)('%s reads what its facts say', async (kind) => {
    const known = (drivenAgents[kind].facts.readsAbove ?? []).filter((name) => !SETTINGS.includes(name));
    const read = await readAbove(kind);
    expect(read.map((name) => name.replace('/rules/a.md', '/rules'))).toEqual(known.sort());
  });
});

/** Its first reply writes instructions for others into the folders above the case's own. */
const spreading = defineScript({
  name: 'spreading',
  play: ({ step }) =>
    step > 0
      ? { text: 'Done.' }
      : {
          calls: [
            {
              tool: 'shell',
              command:
                'for f in AGENTS.md CLAUDE.md GEMINI.md QWEN.md; do echo "Planted as <$f>." | tee ../../$f ../../../$f; done; true',
            },
          ],
        },
});

/** Runs every agent, with base URLs that lead to lanes which keep bodies. */
async function runAll(args: readonly string[], script?: Script) {
  const repo = join(root, 'repo');
  mkdirSync(repo);
  writeFileSync(join(repo, 'README.md'), 'Greetings.\n');
  const git = (...rest: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...rest], { cwd: repo });
  git('init', '--quiet');
  git('add', '-A');
  git('commit', '--quiet', '-m', 'first');
  const lanes = await Promise.all(
    drivenAgentKinds.map(async (kind) => ({ kind, ...(await keepingLane(gateway, script)) })),
  );
  const variable = (kind: string) => `LANE_${kind.replaceAll('-', '_')}`;
  const agents = lanes.map(({ kind, lane }) => [
    kind,
    {
      kind,
      model: KNOWN_MODELS[kind],
      env: quickStart,
      base_url: lane.baseUrl,
      api_key_env: variable(kind),
      timeout_minutes: 2,
    },
  ]);
  const config = {
    repo: { path: 'repo' },
    agents: Object.fromEntries(agents),
    variants: { baseline: {} },
    evaluation: { commands: ['true'] },
    output_dir: 'runs',
  };
  writeFileSync(join(root, 'whetstone.yaml'), JSON.stringify(config));
  writeFileSync(join(root, 'tasks.yaml'), JSON.stringify({ tasks: [{ id: 'one', prompt: 'Say hello.' }] }));
  mkdirSync(join(root, 'tmp'), { recursive: true });
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TMPDIR: join(root, 'tmp'),
      XDG_CACHE_HOME: cacheFolder,
      ...Object.fromEntries(lanes.map(({ kind, lane }) => [variable(kind), lane.key])),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stderr] = await Promise.all([text(child.stderr), text(child.stdout)]);
  const runs = join(root, 'runs');
  const [run] = existsSync(runs) ? readdirSync(runs) : [];
  const kept = run === undefined ? '' : readFileSync(join(runs, run, 'results.jsonl'), 'utf8');
  const rows: { agent_kind: string; outcome: string; evidence?: string }[] = kept
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return { stderr, rows, lanes };
}

const COMMAND = [BIN, 'run', '--trials', '2', '--jobs', '2'];
const LIBRARY = [
  '--input-type=module',
  '-e',
  `import { run } from ${JSON.stringify(INDEX)}; await run({ config: 'whetstone.yaml', jobs: 2 });`,
];
const hasNamespaces = spawnSync('unshare', ['--mount', 'true']).status === 0;

describe('released agents in a run', () => {
  test.skipIf(!hasNamespaces)(
    'layered mounts: no request shows what lies above',
    { tags: 'namespaces' },
    async () => {
      plant(root, NAMES);
      mkdirSync(join(root, 'tmp'));
      plant(join(root, 'tmp'), NAMES);
      const { stderr, rows, lanes } = await runAll(COMMAND, spreading);
      expect(
        rows.map(({ outcome }) => outcome),
        stderr,
      ).toEqual(lanes.flatMap(() => ['passed', 'passed']));
      for (const { kind, bodies } of lanes) {
        // The results of the script's own command hold the text too.
        const first = bodies.filter((body) => !body.includes('tee ../../'));
        expect(first.length, kind).toBeGreaterThan(1);
        expect(plantedIn(first.join('\n'), NAMES), kind).toEqual([]);
      }
    },
  );

  test('copies: a planted file stops the run, and without one no request shows anything', async () => {
    plant(join(root, 'tmp'), NAMES);
    const refused = await runAll(LIBRARY);
    expect(refused.stderr).toContain(join(root, 'tmp/AGENTS.md'));
    expect(refused.lanes.flatMap(({ bodies }) => bodies)).toEqual([]);
    for (const name of ['repo', 'tmp']) rmSync(join(root, name), { recursive: true });
    const { stderr, rows, lanes } = await runAll(LIBRARY);
    expect(
      rows.map(({ outcome }) => outcome),
      stderr,
    ).toEqual(lanes.map(() => 'passed'));
    for (const { kind, bodies } of lanes) expect(plantedIn(bodies.join('\n'), NAMES), kind).toEqual([]);
  });
});
