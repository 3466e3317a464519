import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Plan, Selection } from './plan.ts';
import { type PlanOptions, planRun, seededRandom, shuffle } from './plan-run.ts';

const ALL: Selection = { agents: [], variants: [], taskIds: [], categories: [], difficulties: [] };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plan-'));
  writeFiles(join(folder, 'a'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const CONFIG = `repo: {path: .}
agents:
  zeta: {kind: custom, command: "run {prompt_file}", prompt_template: prompt.md, env: {KEY: "\${KEY}"}}
  alpha: {kind: custom, command: [run, "{prompt}"]}
gateway: {mode: script, script: script.yaml}
variants:
  plain:
  notes:
    overlays: [{source: notes, target: docs}, {remove: [old]}]
evaluation: {commands: ["true"]}
`;
const TASKS = `tasks:
  - {id: one, prompt: One, category: bug, difficulty: easy, hidden_tests: hidden, owner: {b: 1, a: 2}}
  - {id: two, prompt: Two, category: feature, difficulty: easy, repo_ref: v1}
  - {id: three, prompt: Three, category: bug, difficulty: hard}
`;

function writeFiles(directory: string): void {
  mkdirSync(join(directory, 'notes'), { recursive: true });
  mkdirSync(join(directory, 'hidden'));
  const files: Record<string, string> = {
    'whetstone.yaml': CONFIG,
    'tasks.yaml': TASKS,
    'prompt.md': '{task_prompt}',
    'script.yaml': 'steps: []',
    'notes/AGENTS.md': '# Notes',
    'hidden/x.test.js': 'test',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
}

async function load(directory = 'a'): Promise<Config> {
  return (await loadConfig(join(folder, directory, 'whetstone.yaml'))).config;
}

async function plan(selection: Partial<Selection> = {}, options: Partial<PlanOptions> = {}): Promise<Plan> {
  return planRun(
    await load(),
    { ...ALL, ...selection },
    {
      trials: 1,
      seed: 'seed',
      resolveCommit: async (ref) => `sha-of-${ref}`,
      ...options,
    },
  );
}

describe('planRun', () => {
  it('crosses agents, tasks, variants and trials in that order', async () => {
    const { cases, order, agents, tasks, variants, baseline } = await plan({}, { trials: 2 });
    expect(cases).toHaveLength(2 * 3 * 2 * 2);
    expect(cases.slice(0, 5).map(({ id }) => id)).toEqual([
      'one__plain__zeta__trial-1',
      'one__plain__zeta__trial-2',
      'one__notes__zeta__trial-1',
      'one__notes__zeta__trial-2',
      'two__plain__zeta__trial-1',
    ]);
    expect(cases.at(-1)?.id).toBe('three__notes__alpha__trial-2');
    expect([...order].sort()).toEqual(cases.map(({ id }) => id).sort());
    expect(agents.map(({ name }) => name)).toEqual(['zeta', 'alpha']);
    expect(tasks.map(({ id, commit }) => [id, commit])).toEqual([
      ['one', 'sha-of-HEAD'],
      ['two', 'sha-of-v1'],
      ['three', 'sha-of-HEAD'],
    ]);
    expect(variants.map(({ name }) => name)).toEqual(['plain', 'notes']);
    expect(baseline).toBe('plain');
    expect(new Set(cases.map(({ fingerprint }) => fingerprint)).size).toBe(cases.length);
  });

  it('starts whole blocks, each with every variant of one agent, task and trial', async () => {
    const { cases, order } = await plan({}, { trials: 3 });
    const started = order.map((id) => cases.find((planned) => planned.id === id));
    for (let index = 0; index < started.length; index += 2) {
      const pair = started.slice(index, index + 2);
      expect(new Set(pair.map((planned) => planned?.block)).size).toBe(1);
      expect(new Set(pair.map((planned) => planned?.variant))).toEqual(new Set(['plain', 'notes']));
      expect(
        new Set(pair.map((planned) => `${planned?.agent} ${planned?.task} ${planned?.trial}`)).size,
      ).toBe(1);
    }
    expect(order).not.toEqual(cases.map(({ id }) => id));
  });

  it('orders only by the seed: the same everywhere, another with another seed', async () => {
    const first = await plan({}, { trials: 2 });
    expect((await plan({}, { trials: 2 })).order).toEqual(first.order);
    expect((await plan({}, { trials: 2, seed: 'other' })).order).not.toEqual(first.order);
    expect(first.order.slice(0, 3)).toMatchInlineSnapshot(`
      [
        "two__plain__alpha__trial-1",
        "two__notes__alpha__trial-1",
        "three__notes__alpha__trial-1",
      ]
    `);
  });

  it('draws and records a seed where nobody gave one', async () => {
    const config = await load();
    const options = { trials: 1, resolveCommit: async () => 'sha' };
    const { seed } = await planRun(config, ALL, options);
    expect(seed).toMatch(/^[0-9a-f]{16}$/);
    expect((await planRun(config, ALL, options)).seed).not.toBe(seed);
    expect((await planRun({ ...config, seed: '7' }, ALL, options)).seed).toBe('7');
  });

  it('resolves each ref once', async () => {
    const asked: string[] = [];
    await plan(
      {},
      {
        resolveCommit: async (ref) => {
          asked.push(ref);
          return `sha-${asked.length}`;
        },
      },
    );
    expect(asked.sort()).toEqual(['HEAD', 'v1']);
  });

  it('passes on that a ref does not resolve', async () => {
    const failure = plan({}, { resolveCommit: () => Promise.reject(new Error('no such ref')) });
    await expect(failure).rejects.toThrow('no such ref');
  });
});

describe('selection', () => {
  it('takes agents and variants in the order of the selection, each once', async () => {
    const { cases, baseline } = await plan({
      agents: ['alpha', 'zeta', 'alpha'],
      variants: ['notes'],
      taskIds: ['one'],
    });
    expect(cases.map(({ id }) => id)).toEqual(['one__notes__alpha__trial-1', 'one__notes__zeta__trial-1']);
    expect(baseline).toBe('notes');
  });

  it('keeps tasks in file order, ors within a filter, ands across, and cuts last', async () => {
    const ids = async (selection: Partial<Selection>) => (await plan(selection)).tasks.map(({ id }) => id);
    expect(await ids({ taskIds: ['three', 'one'] })).toEqual(['one', 'three']);
    expect(await ids({ categories: ['bug', 'feature'], difficulties: ['easy'] })).toEqual(['one', 'two']);
    expect(await ids({ categories: ['bug'], maxTasks: 1 })).toEqual(['one']);
    expect(await ids({ difficulties: ['hard'], maxTasks: 5 })).toEqual(['three']);
  });

  it.each<[Partial<Selection>, string, string]>([
    [{ agents: ['alfa', 'zeta'] }, 'Unknown agent "alfa".', 'did you mean alpha?\nagents: zeta, alpha'],
    [{ agents: ['x', 'y'] }, 'Unknown agents "x", "y".', 'agents: zeta, alpha'],
    [{ variants: ['Plain'] }, 'Unknown variant "Plain".', 'did you mean plain?\nvariants: plain, notes'],
    [{ taskIds: ['four'] }, 'Unknown task "four".', 'tasks: one, two, three'],
    [{ categories: ['bugs'] }, 'Unknown category "bugs".', 'did you mean bug?\ncategories: bug, feature'],
    [{ difficulties: ['x'] }, 'Unknown difficulty "x".', 'difficulties: easy, hard'],
  ])('refuses names that are not there: %j', async (selection, message, hint) => {
    await expect(plan(selection)).rejects.toMatchObject({
      code: 'selection-unknown',
      message,
      hint,
      exitCode: 2,
    });
  });

  it('refuses an empty matrix and impossible counts', async () => {
    await expect(plan({ categories: ['feature'], difficulties: ['hard'] })).rejects.toMatchObject({
      code: 'selection-empty',
      exitCode: 2,
    });
    await expect(plan({ maxTasks: 0 })).rejects.toMatchObject({ code: 'selection-invalid', exitCode: 2 });
    await expect(plan({}, { trials: 1.5 })).rejects.toMatchObject({ code: 'selection-invalid', exitCode: 2 });
    await expect(plan({ taskIds: ['one'] }, { trials: 250_000 })).rejects.toMatchObject({
      code: 'selection-invalid',
      message: 'That would be 1,000,000 cases, and one run has 200,000 at most.',
    });
  });
});

describe('fingerprints', () => {
  const first = async (): Promise<Plan> => plan({}, { trials: 1 });

  /** Which of the parts an edit changes. */
  async function changedBy(edit: () => void): Promise<string[]> {
    const before = await first();
    edit();
    const after = await first();
    const parts = (of: Plan) => [
      ...of.agents.map(({ name, fingerprint }) => [`agent ${name}`, fingerprint]),
      ...of.tasks.map(({ id, fingerprint }) => [`task ${id}`, fingerprint]),
      ...of.variants.map(({ name, fingerprint }) => [`variant ${name}`, fingerprint]),
    ];
    const old = new Map(parts(before).map(([name, fingerprint]) => [name, fingerprint]));
    const cases = after.cases.filter(
      ({ fingerprint }, index) => before.cases[index]?.fingerprint !== fingerprint,
    );
    const changed = parts(after).flatMap(([name, fingerprint]) =>
      old.get(name) === fingerprint ? [] : [name ?? ''],
    );
    return [...changed, `${cases.length} cases`];
  }

  const write = (name: string, text: string) => writeFileSync(join(folder, 'a', name), text);

  it('follow contents', async () => {
    expect(await changedBy(() => write('notes/AGENTS.md', '# Notes!'))).toEqual(['variant notes', '6 cases']);
    expect(await changedBy(() => chmodSync(join(folder, 'a/notes/AGENTS.md'), 0o755))).toEqual([
      'variant notes',
      '6 cases',
    ]);
    expect(await changedBy(() => write('notes/more.md', ''))).toEqual(['variant notes', '6 cases']);
    expect(await changedBy(() => write('prompt.md', '{task_prompt}!'))).toEqual(['agent zeta', '6 cases']);
    expect(await changedBy(() => write('hidden/x.test.js', 'other'))).toEqual(['task one', '4 cases']);
    expect(await changedBy(() => write('tasks.yaml', TASKS.replace('a: 2', 'a: 3')))).toEqual([
      'task one',
      '4 cases',
    ]);
    expect(await changedBy(() => write('whetstone.yaml', CONFIG.replace('"true"', '"false"')))).toEqual([
      ...['task one', 'task two', 'task three', '12 cases'],
    ]);
    expect(await changedBy(() => write('script.yaml', 'steps: [1]'))).toEqual(['12 cases']);
  });

  it('follow an agent that is a module, with what it imports', async () => {
    write('whetstone.yaml', CONFIG.replace('command: [run, "{prompt}"]', 'module: agent.ts'));
    write('agent.ts', "import './part.ts';");
    write('part.ts', '');
    expect(await changedBy(() => write('agent.ts', "import './part.ts'; // other"))).toEqual([
      ...['agent alpha', '6 cases'],
    ]);
    expect(await changedBy(() => write('part.ts', 'other()'))).toEqual(['agent alpha', '6 cases']);
  });

  it('do not follow spelling, order of keys, unused files or resolved secrets', async () => {
    const respelled = TASKS.replace('{b: 1, a: 2}', '{a: 2, b: 1}').replace(
      '{id: one, prompt: One',
      '{prompt: "One", id: one',
    );
    expect(await changedBy(() => write('tasks.yaml', respelled))).toEqual(['0 cases']);
    expect(await changedBy(() => write('unrelated.md', 'x'))).toEqual(['0 cases']);
    expect(await changedBy(() => (process.env.KEY = 'other'))).toEqual(['0 cases']);
    delete process.env.KEY;
  });

  it('stay when the config moves to another folder', async () => {
    cpSync(join(folder, 'a'), join(folder, 'elsewhere/b'), { recursive: true });
    const moved = await planRun(await load('elsewhere/b'), ALL, {
      trials: 1,
      seed: 'seed',
      resolveCommit: async (ref) => `sha-of-${ref}`,
    });
    expect(moved).toEqual(await first());
  });

  it('depend on the commit', async () => {
    const other = await plan({}, { resolveCommit: async (ref) => `other-${ref}` });
    expect(other.cases[0]?.fingerprint).not.toBe((await first()).cases[0]?.fingerprint);
  });
});

describe('seededRandom', () => {
  it('is pinned: a seed means the same order for ever', () => {
    const random = seededRandom('42', 'order');
    expect(Array.from({ length: 10 }, () => random(100))).toMatchInlineSnapshot(`
      [
        94,
        15,
        90,
        57,
        46,
        21,
        60,
        40,
        40,
        33,
      ]
    `);
  });

  it('stays below its bound and reaches every value', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 12 }), (seed, bound) => {
        const random = seededRandom(seed, 'test');
        const seen = new Set(Array.from({ length: 600 }, () => random(bound)));
        expect([...seen].sort((a, b) => a - b)).toEqual(Array.from({ length: bound }, (_, value) => value));
      }),
      { numRuns: 50 },
    );
  });

  it('shuffles without losing or doubling anything', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.string(), (items, seed) => {
        const shuffled = shuffle(items, seededRandom(seed, 'test'));
        expect([...shuffled].sort((a, b) => a - b)).toEqual([...items].sort((a, b) => a - b));
      }),
    );
  });
});
