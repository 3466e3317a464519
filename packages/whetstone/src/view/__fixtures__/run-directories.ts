import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import type { StreamEvent } from '@whetstone/events';
import { openChain } from '../../record/chain.ts';
import { type CaseLayout, caseLayout, runLayout } from '../../record/layout.ts';
import type { CaseRow } from '../../record/row.ts';
import type { Manifest } from '../../record/manifest.ts';
import { createRunRecord, type RunRecord } from '../../record/run-record.ts';
import { hostileRun, sampleExposure, sampleManifest, sampleRow, sampleRun, type Shape } from '../../report/__fixtures__/sample-run.ts';

/** What an enemy would have every text say. `pwned` is what a script in it would set. */
export const HOSTILE_TEXT =
  '<img src=x onerror="globalThis.pwned=1"><script>globalThis.pwned=1</script>\u001b[31mred\u001b]0;title\u0007 \u202egnp.exe\u202c \u0000 ]]> </pre>';

/** A run with results, prompts, patches, logs, events and model calls; one case is missing. Returns its id. */
export async function writeSampleRun(outputDirectory: string): Promise<string> {
  const { manifest, rows } = exposedRun();
  await writeRun(outputDirectory, manifest, rows, writeCaseFiles);
  return manifest.run_id;
}

/** The sample run with one case whose variant declares something. */
export function exposedRun(): ReturnType<typeof sampleRun> {
  const { manifest, rows } = sampleRun();
  const seen = {
    auth: 'login' as const,
    provider_wait_seconds: 2.5,
    judge: { calls: 3, models: ['judge-1'], total_tokens: 1200, cost_usd: null },
    exposure: sampleExposure(),
    instruction_files: [
      { path: 'CLAUDE.md', in_first_request: 'whole' as const },
      { path: 'AGENTS.md', in_first_request: 'no' as const },
    ],
  };
  const exposed = rows.map((row) => (row.case_id === 'case-0-0-0-2' ? { ...row, ...seen } : row));
  const isolation = { ...manifest.isolation, reachable: ['read files of the user who runs it'] };
  const withheld = [{ path: 'hidden/', what: 'hidden tests' }];
  return { manifest: { ...manifest, isolation, withheld }, rows: exposed };
}

/** The same, and the run goes on: as long as the record is not disposed, this process holds it. */
export async function startSampleRun(outputDirectory: string, runId: string): Promise<{ record: RunRecord; rows: CaseRow[] }> {
  const { manifest, rows } = sampleRun();
  const record = await createRunRecord(outputDirectory, { ...manifest, run_id: runId });
  return { record, rows: rows.map((row) => ({ ...row, run_id: runId })) };
}

export const HOSTILE_RUN_ID = '2026-02-02 <img src=x onerror=globalThis.pwned=1> & "q" \u202e';

/** A run where every text is hostile: names, evidence, logs, patches, events. Returns its id. */
export async function writeHostileRun(outputDirectory: string): Promise<string> {
  const { manifest, rows } = hostileRun();
  const hostile = {
    ...manifest,
    run_id: HOSTILE_RUN_ID,
    baseline: HOSTILE_TEXT,
    notes: [HOSTILE_TEXT],
    variants: [{ name: HOSTILE_TEXT, description: HOSTILE_TEXT, fingerprint: HOSTILE_TEXT }],
  };
  await writeRun(outputDirectory, hostile, rows, writeHostileFiles);
  return HOSTILE_RUN_ID;
}

async function writeRun(
  outputDirectory: string,
  manifest: Manifest,
  rows: readonly CaseRow[],
  write: (files: CaseLayout, row: CaseRow) => Promise<void>,
): Promise<void> {
  await using record = await createRunRecord(outputDirectory, manifest);
  for (const row of rows) {
    await write(await record.startCase(row.case_id), row);
    await record.finishCase({ ...row, run_id: manifest.run_id });
  }
  await record.finish('finished');
}

/**
 * A run of any size without files of cases, for the speed of the page. The second variant passes more often; every case fails
 * for one of a few reasons. Returns its id.
 */
export async function writeLargeRun(outputDirectory: string, runId: string, shape: Shape): Promise<string> {
  const manifest = sampleManifest(shape, { run_id: runId });
  let state = 1;
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const hardness = new Map(manifest.tasks.map(({ id }) => [id, random()]));
  const lines = manifest.case_matrix.map((planned) => {
    const gain = planned.variant === manifest.baseline ? 0 : 0.25;
    const draw = random();
    const outcome = draw < 0.02 ? 'error' : draw * 0.9 + gain > (hardness.get(planned.task_id) ?? 0) ? 'passed' : 'failed';
    const evidence = `\`npm test\` exited with 1: expected ${Math.floor(random() * 40)} to be 3`;
    const row = sampleRow(planned, outcome, { run_id: runId, duration_seconds: 40, ...(outcome === 'failed' ? { evidence } : {}) });
    return { type: 'case.finished', at: manifest.created_at, case_id: planned.case_id, row };
  });
  const { manifest: file, journal } = runLayout(join(outputDirectory, runId));
  await mkdir(join(outputDirectory, runId), { recursive: true });
  const text = JSON.stringify({ ...manifest, chained: true });
  const chain = openChain(text);
  await writeFile(file, text);
  await writeFile(journal, lines.map((line) => `${chain.add(line)}\n`).join(''));
  return runId;
}

/** Overwrites one file of a case. */
export async function writeCaseFile(outputDirectory: string, runId: string, caseId: string, file: keyof CaseLayout, content: string | Uint8Array) {
  await writeFile(caseLayout(runLayout(join(outputDirectory, runId)).case(caseId))[file], content);
}

const PATCH = `diff --git a/src/parser.js b/src/parser.js
index 1111111..2222222 100644
--- a/src/parser.js
+++ b/src/parser.js
@@ -1,4 +1,5 @@
 export function parse(text) {
--- an old comment that looks like a header
-  return text.split(',');
+  const rows = text.split('\\n');
+  return rows.map((row) => row.split(','));
+  // the end
 }
diff --git a/test/parser.test.js b/test/parser.test.js
new file mode 100644
--- /dev/null
+++ b/test/parser.test.js
@@ -0,0 +1 @@
+test('parses', () => {});
`;

const at = (second: number) => new Date(Date.UTC(2026, 0, 2, 3, 4, second)).toISOString();

const EVENTS: StreamEvent[] = [
  { type: 'session.started', at: at(6), runtime: 'loop', model: 'scripted' },
  { type: 'thinking', at: at(7), text: 'The parser has to know rows.' },
  { type: 'message', at: at(7), role: 'assistant', text: 'I look at the parser first.' },
  { type: 'action.called', at: at(8), callId: '1', name: 'read_file', input: { path: 'src/parser.js' } },
  { type: 'action.result', at: at(8), callId: '1', status: 'completed', output: 'export function parse(text) {\n'.repeat(20) },
  { type: 'usage', at: at(9), usage: { inputTokens: 1200, outputTokens: 80 }, model: 'scripted', latencyMs: 900 },
  { type: 'action.called', at: at(10), callId: '2', name: 'shell', input: { command: 'npm test' } },
  { type: 'action.result', at: at(12), callId: '2', status: 'failed', output: '1 failing' },
  { type: 'file.changed', at: at(13), path: 'src/parser.js', change: 'modified' },
  { type: 'message', at: at(14), role: 'assistant', text: 'Done.' },
];

const callLine = (n: number, outcome: string) => ({
  id: `c${n}`,
  at: at(6 + 2 * n),
  wire: 'openai-responses',
  method: 'POST',
  path: '/v1/responses',
  model_asked: 'scripted',
  model_answered: outcome === 'ok' ? 'scripted-1' : null,
  status: outcome === 'ok' ? 200 : 503,
  outcome,
  usage: outcome === 'ok' ? { inputTokens: 1200 * n, cacheReadTokens: 400, outputTokens: 80 } : null,
  cost_usd: null,
  total_ms: 812.5,
  agent_family: 'whetstone-loop',
  tools_offered: ['read_file', 'shell'],
  tools_called: outcome === 'ok' ? ['read_file', 'shell'] : [],
  flags: [],
});

/** What the agent of a case asked its model, and what that answered. A variant adds instructions. */
const exchangeLines = ({ variant }: Pick<CaseRow, 'variant'>) => {
  const instructions = ['You are a coding agent.', ...(variant === 'baseline' ? [] : ['Run the tests before you end.'])].join('\n');
  const tools = ['read_file', 'shell', ...(variant === 'baseline' ? [] : ['run_tests'])].map((name) => ({ type: 'function', name, parameters: { type: 'object' } }));
  const call = { type: 'function_call', call_id: '1', name: 'read_file', arguments: '{"path":"src/parser.js"}' };
  const input = [{ role: 'user', content: 'Make the parser understand rows.' }];
  const result = { type: 'function_call_output', call_id: '1', output: 'export function parse(text) {\n'.repeat(40) };
  const reply = (item: unknown) => `event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', response: { output: [item] } })}\n\n`;
  const done = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] };
  const kept = { wire: 'openai-responses', is_stream: true, request_omitted: 0, reply_omitted: 0 };
  const body = (items: unknown[]) => JSON.stringify({ model: 'scripted', stream: true, instructions, input: items, tools });
  return [
    { id: 'c1', ...kept, request: body(input), reply: reply(call) },
    { id: 'c2', ...kept, request: body([...input, call, result]), reply: '{"error":{"message":"overloaded"}}' },
    { id: 'c3', ...kept, request: body([...input, call, result]), reply: reply(done) },
  ];
};

async function writeCaseFiles(files: CaseLayout, row: CaseRow): Promise<void> {
  await writeFile(files.prompt, `# ${row.task_id}\n\nMake the parser understand rows.\nRun the tests before you end.\n`);
  await writeFile(files.events, jsonLines(EVENTS));
  await writeFile(files.modelCalls, jsonLines([callLine(1, 'ok'), callLine(2, 'error'), callLine(3, 'ok')]));
  await writeFile(files.exchanges, zstdCompressSync(jsonLines(exchangeLines(row))));
  await writeFile(files.stdout, '\u001b[32mI have changed the parser.\u001b[0m\n');
  await writeFile(files.stderr, '');
  if (row.changed_files !== null && row.changed_files > 0) await writeFile(files.patch, PATCH);
  await writeFile(files.outputData, '{\n  "verdict": "good"\n}\n');
  await mkdir(files.verify);
  for (const [index, result] of row.validation_results.entries()) {
    await writeFile(join(files.verify, '..', result.stdout_path), `run ${index}\n1 failing\n  parses: expected 2 to be 3\n    at parse (file:///w/w-1/repo/src/parser.js:2:14)\n`);
    await writeFile(join(files.verify, '..', result.stderr_path), '');
  }
}

async function writeHostileFiles(files: CaseLayout, row: CaseRow): Promise<void> {
  const lines = `${HOSTILE_TEXT}\n`.repeat(3);
  await writeFile(files.prompt, lines);
  await writeFile(files.patch, PATCH.replaceAll('parser', HOSTILE_TEXT));
  await writeFile(files.outputData, lines);
  await writeFile(files.stdout, lines);
  await writeFile(files.stderr, Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28]));
  const fields = { text: HOSTILE_TEXT, name: { a: 1 }, role: [HOSTILE_TEXT], at: HOSTILE_TEXT, usage: 'x', status: {} };
  const events = ['message', 'action.called', 'action.result', 'usage', 'error', HOSTILE_TEXT, '__proto__'].map((type) => ({ type, ...fields }));
  await writeFile(files.events, `${jsonLines(events)}null\n[1]\n"text"\n{torn\n{"type":"raw","native":${'['.repeat(50_000)}${']'.repeat(50_000)}}\n`);
  const body = JSON.stringify({ model: HOSTILE_TEXT, instructions: HOSTILE_TEXT, input: HOSTILE_TEXT, tools: [{ type: 'function', name: HOSTILE_TEXT }] });
  const kept = { wire: 'openai-responses', is_stream: true, request_omitted: 0, reply_omitted: 0, request: body, reply: HOSTILE_TEXT };
  await writeFile(files.exchanges, zstdCompressSync(jsonLines([{ id: HOSTILE_TEXT, ...kept }])));
  await writeFile(files.modelCalls, jsonLines([{ id: HOSTILE_TEXT, outcome: HOSTILE_TEXT, usage: null, tools_called: 'x', flags: {}, error: HOSTILE_TEXT }]));
  await mkdir(files.verify);
  for (const result of row.validation_results) await writeFile(join(files.verify, '..', result.stdout_path), lines);
}

const jsonLines = (values: readonly unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
