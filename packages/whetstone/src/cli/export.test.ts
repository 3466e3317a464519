import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { atifTrajectorySchema, readAtif } from '@whetstone/events/atif';
import { readInspectLog } from '@whetstone/events/inspect';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportRun } from '../export/export-run.ts';
import { readRun } from '../record/read-run.ts';
import { reportRun } from '../run/write-report.ts';
import { writeHostileRun } from '../view/__fixtures__/run-directories.ts';
import { makeProject, type Project } from './__fixtures__/project.ts';

let project: Project;
beforeAll(async () => {
  project = makeProject({
    agents: { writer: 'echo done >> README.md; echo "I am done."; case "$1" in *Break*) exit 3 ;; esac' },
    tasks: [
      { id: 'one', prompt: 'Do it.' },
      { id: 'two', prompt: 'Break it.' },
    ],
  });
  await project.whetstone(['run', '--trials', '2']);
});
afterAll(() => project[Symbol.dispose]());

/** A receiver of OTLP/HTTP with JSON. Answers `statuses` first. */
async function receiver(statuses: number[] = []) {
  const received: { path: string; type: string; key: string; body: string }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { url = '', headers } = request;
    received.push({
      path: url,
      type: `${headers['content-type']}`,
      key: `${headers['x-key']}`,
      body: Buffer.concat(chunks).toString(),
    });
    const status = statuses.shift() ?? 200;
    response
      .writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' })
      .end('{"partialSuccess":{}}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}

test('export --format atif writes a valid trajectory per case, which is read back', async () => {
  const out = join(project.root, 'atif');
  const finished = await project.whetstone(['export', 'latest', '--format', 'atif', '--out', out, '--json']);
  expect(finished).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(finished.stdout).exported).toMatchObject({ cases: 4, without_events: 0 });
  for (const name of readdirSync(out)) {
    const trajectory = atifTrajectorySchema.parse(JSON.parse(readFileSync(join(out, name), 'utf8')));
    expect(JSON.stringify(readAtif(trajectory))).toContain('I am done.');
  }
});

test('export --format inspect writes a log per arm, whose samples are read back with their scores', async () => {
  const out = join(project.root, 'inspect');
  expect(await project.whetstone(['export', 'latest', '--format', 'inspect', '--out', out])).toMatchObject({
    exitCode: 0,
  });
  const [file = ''] = readdirSync(out);
  const samples = await Array.fromAsync(readInspectLog(join(out, file)));
  const { stats } = JSON.parse(readFileSync(join(out, file), 'utf8'));
  // Of commands of a second, not of the moment at which the run was planned.
  expect(Date.parse(stats.completed_at)).toBeGreaterThan(Date.parse(stats.started_at));
  expect(stats.model_usage).toEqual({});
  const shown = samples.map(({ id, epoch, scores, metadata }) => [
    id,
    epoch,
    (scores as { whetstone?: { value: string } }).whetstone?.value,
    metadata.task,
  ]);
  expect(shown).toEqual([
    ['one', 1, 'C', 'writer/baseline'],
    ['one', 2, 'C', 'writer/baseline'],
    ['two', 1, 'I', 'writer/baseline'],
    ['two', 2, 'I', 'writer/baseline'],
  ]);
});

test('hostile and damaged events are left out and counted, and no name of an arm leads out of the folder', async () => {
  const folder = join(project.root, 'hostile');
  const run = reportRun(await readRun(join(folder, await writeHostileRun(folder))));
  const ordered = run.ordered.map((row) => ({ ...row, variant: `../../${row.variant}` }));
  await using collector = await receiver();
  for (const format of ['inspect', 'atif', 'otlp'] as const) {
    const out = join(folder, 'out', format);
    const { files, lost } = await exportRun({ ...run, ordered }, format, out);
    expect(lost).toContainEqual({ what: 'event', count: expect.any(Number), why: 'its line cannot be read' });
    expect(readdirSync(out).map((name) => join(out, name))).toEqual(expect.arrayContaining(files));
  }
  const args = ['export', run.directory, '--otlp', collector.url];
  const finished = await project.whetstone(args, { OTEL_EXPORTER_OTLP_HEADERS: 'x-key=50%' });
  expect(finished).toMatchObject({ exitCode: 0 });
});

test('export --otlp sends the spans of each case, without what was said unless it is asked to', async () => {
  await using collector = await receiver([503]);
  const env = { OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20key' };
  const finished = await project.whetstone(['export', 'latest', '--otlp', collector.url, '--json'], env);
  expect(JSON.parse(finished.stdout).sent).toEqual({ cases: 4, without_events: 0, rejected_spans: 0 });
  const { received } = collector;
  // The first one was refused for a while, and sent again as it was.
  expect(received).toHaveLength(5);
  expect(received[0]).toEqual(received[1]);
  for (const { path, type, key } of received)
    expect([path, type, key]).toEqual(['/v1/traces', 'application/json', 'a key']);
  const [{ resource, scopeSpans }] = JSON.parse(received[1]?.body ?? '').resourceSpans;
  expect(JSON.stringify(resource)).toContain('whetstone.task.id');
  expect(scopeSpans[0].spans[0]).toMatchObject({
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    name: expect.stringContaining('invoke_agent'),
  });
  expect(received[1]?.body).not.toContain('I am done.');
  await project.whetstone(['export', 'latest', '--otlp', `${collector.url}/v1/traces`, '--otlp-content']);
  expect(received.at(-1)).toMatchObject({ path: '/v1/traces' });
  expect(
    received
      .slice(5)
      .map(({ body }) => body)
      .join(),
  ).toContain('I am done.');
});

test('run --otlp sends what it did, and a receiver that fails changes no result', async () => {
  await using collector = await receiver([400]);
  const run = ['run', '--task-id', 'one', '--otlp', collector.url];
  const refused = await project.whetstone(run);
  expect(refused).toMatchObject({ exitCode: 0 });
  expect(refused.stderr).toContain('warning  The traces were not sent: The receiver answered 400.');
  const sent = await project.whetstone(run);
  expect(sent.stderr).toContain('Sent the traces of 1 case to 127.0.0.1:');
});

test.each([
  [['export', 'latest'], 'export-option-invalid'],
  [['export', 'latest', '--otlp', 'collector'], 'otlp-unreachable'],
  [['run', '--otlp', 'ftp://collector'], 'otlp-unreachable'],
  [['export', 'latest', '--otlp', 'http://127.0.0.1:9'], 'otlp-unreachable'],
])('%j is an error that says what to do', async (args, code) => {
  const before = project.runDirectories().length;
  const finished = await project.whetstone(args);
  expect(finished).toMatchObject({ exitCode: 2, stdout: '' });
  expect(finished.stderr).toContain(code);
  expect(project.runDirectories()).toHaveLength(before);
});
