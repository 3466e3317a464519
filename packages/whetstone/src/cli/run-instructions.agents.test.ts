import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drivenAgentKinds, drivenAgents } from '@whetstone/agents/config';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KNOWN_MODELS, mayRunCommands, quickStart } from '../../../../examples/real-agents/drive-agent.ts';
import type { CaseRow } from '../record/row.ts';
import { makeProject, type Project } from './__fixtures__/project.ts';

const cache = join(import.meta.dirname, '../../../../.cache');

/** Each agent reads one of them at least, and none reads all. */
const FILES = {
  'README.md': 'Tea.\n',
  'AGENTS.md': 'Old rules: warm every cup before the tea goes into it.\n',
  'CLAUDE.md': 'Old rules: ask before you pour the tea.\n',
  'GEMINI.md': 'Old rules: never pour the tea twice.\n',
};

let project: Project;
let report: string;
let rows: CaseRow[];
beforeAll(async () => {
  project = makeProject({ files: FILES, tasks: [{ id: 'one', prompt: 'Make tea.' }] });
  project.write({
    'script.mjs': "export default { name: 'done', play: () => ({ text: 'Done.' }) };\n",
    'notes.txt': 'Nobody reads this.\n',
  });
  const text = 'New rules: use the small pot.';
  project.writeConfig({
    agents: Object.fromEntries(
      drivenAgentKinds.map((kind) => [
        kind,
        { kind, model: KNOWN_MODELS[kind], timeout_minutes: 2, env: quickStart, ...mayRunCommands(kind) },
      ]),
    ),
    variants: {
      plain: {},
      unread: { overlays: [{ source: 'notes.txt', target: 'docs/deep/notes.txt' }] },
      added: { instructions: { text, mode: 'append' } },
      replaced: { instructions: { text, mode: 'replace' } },
    },
    baseline: 'plain',
    gateway: { mode: 'script', script: 'script.mjs' },
  });
  const { stderr } = await project.whetstone(['run', '--jobs', '2'], { XDG_CACHE_HOME: cache });
  expect(project.runDirectories().length, stderr).toBeGreaterThan(0);
  const latest = project.latest();
  rows = latest.rows;
  report = readFileSync(join(latest.directory, 'report.md'), 'utf8');
});
afterAll(() => project[Symbol.dispose]());

describe.each(drivenAgentKinds)('%s', (kind) => {
  const rowOf = (variant: string): CaseRow => {
    const row = rows.find((one) => one.agent_kind === kind && one.variant === variant);
    if (!row) throw new Error(`${kind} has no case with ${variant}`);
    return row;
  };
  const seen = (variant: string): string[] =>
    (rowOf(variant).instruction_files ?? [])
      .filter(({ in_first_request: extent }) => extent !== 'no')
      .map(({ path }) => path)
      .sort();

  test('gets added instructions beside the old ones, and only the new ones where they replace', () => {
    expect(rowOf('plain').outcome).toBe('passed');
    expect(seen('plain').length).toBeGreaterThan(0);
    expect(seen('added')).toEqual(seen('plain'));
    expect(rowOf('added').exposure?.instructions).toMatchObject({ in_requests: 'whole' });
    expect(seen('replaced')).toEqual([drivenAgents[kind].facts.instructions]);
    expect(rowOf('replaced').exposure?.instructions).toMatchObject({ in_requests: 'whole' });
  });

  test('sends equal first requests in arms that do not differ in what it reads', () => {
    const requests = ['plain', 'unread', 'added', 'replaced'].map((name) => rowOf(name).first_request);
    expect(requests[1]).toBe(requests[0]);
    expect(new Set(requests).size).toBe(3);
    expect(report).toContain(
      `The first model request of ${kind} was the same in unread as in plain, in the task where both are known`,
    );
  });
});
