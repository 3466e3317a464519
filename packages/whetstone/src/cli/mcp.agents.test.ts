import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StreamEvent } from '@whetstone/events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KNOWN_MODELS, mayRunCommands } from '../../../../examples/real-agents/drive-agent.ts';
import { BIN, makeProject, type Project, readLines } from './__fixtures__/project.ts';

/** Where `examples/real-agents/install.ts` puts the agents. */
const cache = join(import.meta.dirname, '../../../../.cache');
/** With its default model Codex offers MCP tools only to a search that runs at the provider. */
const models = { 'codex-cli': 'gpt-5.1', 'claude-code': KNOWN_MODELS['claude-code'] } as const;
const kinds = Object.keys(models) as (keyof typeof models)[];

/** A run with a verdict, and two released agents that read it over the MCP server. */
let measured: Project;
let project: Project;
beforeAll(async () => {
  measured = makeProject({
    agents: { reader: 'test -f AGENTS.md && echo done >> README.md' },
    tasks: ['one', 'two', 'three', 'four'].map((id) => ({ id, prompt: 'Do it.' })),
    config: {
      variants: { without: {}, with: { overlays: [{ source: 'notes.md', target: 'AGENTS.md' }] } },
      evaluation: { commands: ['grep done README.md'] },
    },
  });
  measured.write({ 'notes.md': 'Read the tests.\n' });
  await measured.whetstone(['run', '--jobs', '2']);
  project = makeProject({ tasks: [{ id: 'one', prompt: 'Does AGENTS.md help? Which case says so?' }] });
  cpSync(
    join(import.meta.dirname, '__fixtures__/measuring-script.mjs'),
    join(project.root, 'measuring-script.mjs'),
  );
  project.write({ 'measured.json': JSON.stringify({ config: join(measured.root, 'whetstone.yaml') }) });
  project.writeConfig({
    agents: Object.fromEntries(
      kinds.map((kind) => [kind, { kind, model: models[kind], timeout_minutes: 2, ...mayRunCommands(kind) }]),
    ),
    variants: { with: { mcp_servers: { whetstone: { command: process.execPath, args: [BIN, 'mcp'] } } } },
    gateway: { mode: 'script', script: 'measuring-script.mjs' },
  });
  const { stderr } = await project.whetstone(['run', '--jobs', '2'], { XDG_CACHE_HOME: cache });
  expect(project.runDirectories(), stderr).toHaveLength(1);
});
afterAll(() => {
  project[Symbol.dispose]();
  measured[Symbol.dispose]();
});

test.each(kinds)('%s reads a verdict and its reason with the tools of whetstone mcp', (kind) => {
  const { directory, rows } = project.latest();
  const row = rows.find((one) => one.agent_kind === kind);
  const folder = join(directory, 'cases', row?.case_id ?? '');
  const text = readFileSync(join(folder, 'events.jsonl'), 'utf8');
  expect(row, text).toMatchObject({ outcome: 'passed', changed_files: 0 });
  expect(row?.exposure?.mcp_servers).toMatchObject([
    { name: 'whetstone', offered: true, calls: 4, failures: 0 },
  ]);
  const events = readLines<StreamEvent>(join(folder, 'events.jsonl'));
  const called = events.flatMap((event) =>
    event.type === 'action.called' && event.name?.startsWith('mcp__whetstone__')
      ? [event.name.replace('mcp__whetstone__', '')]
      : [],
  );
  expect(called).toEqual(['list_runs', 'compare', 'read_run', 'read_case']);
  // What the real server answered: the id of the run, the verdict on it, and the check that failed.
  const { manifest, rows: cases } = measured.latest();
  const failed = cases.find((one) => one.outcome === 'failed');
  for (const said of [manifest.run_id, 'better', failed?.case_id ?? '', 'grep done README.md'])
    expect(text).toContain(said);
  const last = events.findLast((event) => event.type === 'message' && event.role === 'assistant');
  expect(last).toMatchObject({
    text: expect.stringMatching(/^The variant is better: \S+ failed without it\.$/),
  });
});
