import { once } from 'node:events';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manifestOf, rowOf } from '../record/__fixtures__/records.ts';
import { createRunRecord } from '../record/run-record.ts';
import { summarize } from '../report/summarize.ts';
import { cookieFrom, send } from './__fixtures__/http.ts';
import {
  exposedRun,
  HOSTILE_RUN_ID,
  HOSTILE_TEXT,
  startSampleRun,
  writeCaseFile,
  writeHostileRun,
  writeSampleRun,
} from './__fixtures__/run-directories.ts';
import type { CaseDetail, CaseFile, RunDetail, RunList } from './api.ts';
import { serveRuns, type ViewServer } from './server.ts';

let outputDirectory: string;
let server: ViewServer;
let sampleId: string;
let cookie: string;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'view-test-'));
  await writeFile(join(folder, 'secret.txt'), 'SECRET');
  outputDirectory = join(folder, 'runs');
  sampleId = await writeSampleRun(outputDirectory);
  await writeHostileRun(outputDirectory);
  server = await serveRuns({ outputDirectory });
  cookie = await cookieFrom(server.url);
});
afterAll(async () => {
  await server.close();
  await rm(join(outputDirectory, '..'), { recursive: true, force: true });
});

const get = (path: string, headers: Record<string, string> = {}) =>
  send(server.url, path, { headers: { cookie, ...headers } });

const api = (...segments: string[]) => `/api/${segments.map(encodeURIComponent).join('/')}`;

async function getJson<Answer>(...segments: string[]): Promise<Answer> {
  const { status, body } = await get(api(...segments));
  expect(status, body).toBe(200);
  return JSON.parse(body);
}

describe('files', () => {
  test('the page and everything that it loads are served with their types', async () => {
    const { body, headers } = await get('/');
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    const loaded = [...body.matchAll(/<(?:link|script) [^>]*(?:src|href)="\/(?<name>[^"]+)"/g)].map(
      ({ groups }) => groups?.name ?? '',
    );
    expect(loaded).toContain('view.js');
    for (const name of loaded) expect((await get(`/${name}`)).status, name).toBe(200);
    expect((await get('/style/base.css')).headers['content-type']).toBe('text/css; charset=utf-8');
    expect((await get('/vendor/inter.woff2')).headers['content-type']).toBe('font/woff2');
    const { headers: script } = await get('/view.js');
    expect(script['content-type']).toBe('text/javascript; charset=utf-8');
  });

  test.each([
    '/../package.json',
    '/..%2fpackage.json',
    '/%2e%2e/package.json',
    '/view.js/..',
    '//etc/passwd',
    '/%2fetc%2fpasswd',
    '/README.md',
    '/page.slow.test.ts',
    '/constructor',
    '/__proto__',
  ])('%s is not served', async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  test.each(['/%', '/%ff', '/api/runs/%E0%A4%A', 'http://evil.example/', '*'])(
    '%s is not a valid address',
    async (path) => {
      expect((await get(path)).status).toBe(400);
    },
  );
});

describe('runs', () => {
  test('are listed with the newest first, without other folders', async () => {
    await mkdir(join(outputDirectory, 'not-a-run'), { recursive: true });
    await writeFile(join(outputDirectory, 'zzz.txt'), 'a file');
    const { runs, older } = await getJson<RunList>('runs');
    expect(runs.map((run) => run.id)).toEqual([HOSTILE_RUN_ID, sampleId]);
    expect(older).toBe(0);
    expect(runs[1]).toMatchObject({
      state: 'stopped',
      cases: { planned: 56, missing: 1 },
      agents: ['loop', 'codex'],
    });
  });

  test('have the numbers of every other report', async () => {
    const { manifest, rows } = exposedRun();
    const detail = await getJson<RunDetail>('runs', sampleId);
    const { cells: _, failures, ...numbers } = JSON.parse(JSON.stringify(summarize(manifest, rows)));
    expect(detail.summary).toEqual(numbers);
    expect(detail.failures.map(({ count }) => count)).toEqual(
      failures.map(({ count }: { count: number }) => count),
    );
    const { texts, lines } = detail.cases;
    expect(lines).toHaveLength(56);
    expect(lines.filter((line) => line[5] === null)).toHaveLength(1);
    const failed = lines.find(([id]) => id === 'case-0-0-0-2');
    expect(
      failed?.map((value, index) => ([1, 2, 3, 6, 7].includes(index) ? texts[Number(value)] : value)),
    ).toEqual([
      'case-0-0-0-2',
      'loop',
      'fix-parser',
      'baseline',
      2,
      'failed',
      'agent',
      '`npm test` exited with 1.',
      14.5,
      1200,
      0.02,
    ]);
    expect(detail.manifest.seed).toBe(manifest.seed);
  });

  test('hostile names are texts like all others', async () => {
    const detail = await getJson<RunDetail>('runs', HOSTILE_RUN_ID);
    expect(detail.summary.caveats).toContain(HOSTILE_TEXT);
    expect((await get(api('runs', HOSTILE_RUN_ID))).headers['content-type']).toBe(
      'application/json; charset=utf-8',
    );
  });

  test('a running run is read again, and an unchanged answer is not sent again', async () => {
    const id = '2026-03-03T00-00-00-live';
    const { record, rows } = await startSampleRun(outputDirectory, id);
    const [first, second] = rows;
    if (!first || !second) throw new Error('The sample has rows.');
    await record.startCase(first.case_id);
    await record.finishCase(first);
    expect(await getJson<RunDetail>('runs', id)).toMatchObject({
      state: 'running',
      summary: { cases: { finished: 1 } },
    });

    const tag = (await get(api('runs', id))).headers.etag ?? '';
    const same = await get(api('runs', id), { 'if-none-match': tag });
    expect({ status: same.status, body: same.body }).toEqual({ status: 304, body: '' });

    await record.startCase(second.case_id);
    await record.finishCase(second);
    expect((await get(api('runs', id), { 'if-none-match': tag })).status).toBe(200);
    expect(await getJson<RunDetail>('runs', id)).toMatchObject({ summary: { cases: { finished: 2 } } });

    await record[Symbol.asyncDispose]();
    expect(await getJson<RunDetail>('runs', id)).toMatchObject({ state: 'stopped' });
    await rm(join(outputDirectory, id), { recursive: true });
    expect(await get(api('runs', id))).toMatchObject({
      status: 404,
      body: `{"error":"There is no run \\"${id}\\" here."}`,
    });
  });

  test('a run with a result for every case is finished', async () => {
    const manifest = { ...manifestOf(['a']), run_id: '2025-finished' };
    await using record = await createRunRecord(outputDirectory, manifest);
    await record.startCase('a');
    await record.finishCase(rowOf('a'));
    await record[Symbol.asyncDispose]();
    expect(await getJson<RunDetail>('runs', '2025-finished')).toMatchObject({ state: 'finished' });
    await rm(join(outputDirectory, '2025-finished'), { recursive: true });
  });

  test('a run that cannot be read does not hide the others', async () => {
    const broken = join(outputDirectory, '2024-broken');
    await mkdir(broken);
    await writeFile(join(broken, 'manifest.json'), '{');
    await writeFile(join(broken, 'journal.jsonl'), '');
    const { runs } = await getJson<RunList>('runs');
    expect(runs).toHaveLength(3);
    expect(runs[2]).toMatchObject({ id: '2024-broken', problem: expect.stringContaining('cannot be read') });
    expect((await get(api('runs', '2024-broken'))).status).toBe(422);
    await rm(broken, { recursive: true });
  });

  test('a link to a run elsewhere is not listed', async () => {
    await symlink(join(outputDirectory, sampleId), join(outputDirectory, '2026-link'));
    expect((await get(api('runs', '2026-link'))).status).toBe(404);
    await rm(join(outputDirectory, '2026-link'));
  });

  test('an output directory that does not exist yet has no runs', async () => {
    await using empty = await serveRuns({ outputDirectory: join(outputDirectory, 'later') });
    const headers = { cookie: await cookieFrom(empty.url) };
    const { status, body } = await send(empty.url, '/api/runs', { headers });
    expect({ status, body }).toEqual({ status: 200, body: JSON.stringify({ runs: [], older: 0 }) });
  });
});

describe('cases', () => {
  const failed = 'case-0-0-0-2';

  test('have their row, and their files by name', async () => {
    const detail = await getJson<CaseDetail>('runs', sampleId, 'cases', failed);
    expect(detail.row).toMatchObject({ case_id: failed, outcome: 'failed' });
    expect(detail.files.map((file) => file.name)).toEqual([
      'prompt',
      'patch',
      'answer',
      'events',
      'model-calls',
      'exchanges',
      'stdout',
      'stderr',
      'validation-0-stdout',
      'validation-0-stderr',
    ]);
    const log = await getJson<CaseFile>('runs', sampleId, 'cases', failed, 'validation-0-stdout');
    expect(log).toMatchObject({ head: expect.stringContaining('1 failing'), omitted_bytes: 0, tail: '' });
  });

  test('a log is served without cursor moves', async () => {
    const { head } = await getJson<CaseFile>('runs', sampleId, 'cases', failed, 'stdout');
    expect(head).toBe('I have changed the parser.\n');
  });

  test('a planned case without a result is listed', async () => {
    const detail = await getJson<CaseDetail>('runs', sampleId, 'cases', 'case-1-6-1-2');
    expect(detail).toMatchObject({ row: null, state: 'stopped', planned: { outcome: null }, files: [] });
  });

  test('long files are cut to 1 MiB: texts at the end, logs at the beginning, events in the middle', async () => {
    const long = `FIRST\n${'ä'.repeat(2 ** 20)}\nLAST`;
    const bytes = Buffer.byteLength(long);
    for (const file of ['patch', 'stdout', 'events'] as const) {
      await writeCaseFile(outputDirectory, sampleId, 'case-0-0-0-1', file, long);
    }
    const read = (name: string) => getJson<CaseFile>('runs', sampleId, 'cases', 'case-0-0-0-1', name);
    const [patch, stdout, events] = [await read('patch'), await read('stdout'), await read('events')];
    for (const file of [patch, stdout, events]) {
      expect({ bytes: file.bytes, omitted: file.omitted_bytes }).toEqual({ bytes, omitted: bytes - 2 ** 20 });
      expect(file.head + file.tail).not.toContain('\ufffd');
    }
    expect([patch.head.startsWith('FIRST'), patch.tail]).toEqual([true, '']);
    expect([stdout.head, stdout.tail.endsWith('LAST')]).toEqual(['', true]);
    expect([events.head.startsWith('FIRST'), events.tail.endsWith('LAST')]).toEqual([true, true]);
  });

  test('a file is sent as it is, whole or in part, and never as a page', async () => {
    const text = `\u001b[31m<b>${'x'.repeat(3 * 2 ** 20)}END`;
    await writeCaseFile(outputDirectory, sampleId, 'case-0-0-1-1', 'stdout', text);
    const path = api('runs', sampleId, 'cases', 'case-0-0-1-1', 'stdout', 'raw');
    const whole = await get(path);
    expect([whole.status, whole.body === text]).toEqual([200, true]);
    expect(whole.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
    });
    const size = Buffer.byteLength(text);
    for (const [range, body, content] of [
      ['bytes=0-4', '\u001b[31m', `bytes 0-4/${size}`],
      [`bytes=${size - 3}-`, 'END', `bytes ${size - 3}-${size - 1}/${size}`],
      ['bytes=-3', 'END', `bytes ${size - 3}-${size - 1}/${size}`],
    ] as const) {
      const part = await get(path, { range });
      expect([part.status, part.body, part.headers['content-range']]).toEqual([206, body, content]);
    }
    expect((await get(path, { range: `bytes=${size}-` })).status).toBe(416);
    expect((await get(path, { range: 'lines=1-2' })).status).toBe(200);
  });

  test('bytes that are not text are harmless', async () => {
    const { head } = await getJson<CaseFile>('runs', HOSTILE_RUN_ID, 'cases', 'case-0-0-0-1', 'stderr');
    expect(head).toBe('\ufffd\ufffd\ufffd(');
  });

  test.each([
    ['runs', '..', 'cases', 'x', 'prompt'],
    ['runs', '../runs'],
    ['runs', '.'],
    ['runs', ''],
    ['runs', 'ID', 'cases', '..', 'prompt'],
    ['runs', 'ID', 'cases', failed, '../../../secret.txt'],
    ['runs', 'ID', 'cases', failed, '/etc/passwd'],
    ['runs', 'ID', 'cases', failed, 'result.json'],
    ['runs', 'ID', 'cases', failed, 'prompt\0'],
    ['runs', 'ID', 'cases', failed, 'validation-1-stdout'],
    ['runs', 'ID', 'cases', failed, 'constructor'],
    ['runs', 'ID', 'cases', failed, 'prompt', 'more'],
    ['runs', 'ID', 'cases', failed, 'result.json', 'raw'],
    ['runs', 'ID', 'cases', failed, '../../../secret.txt', 'raw'],
    ['runs', 'ID', 'other', failed],
    ['runs', 'unknown\0'],
    ['__proto__'],
  ])('/%s/%s/%s/%s/%s is not there', async (...segments) => {
    expect((await get(api(...segments.map((one) => (one === 'ID' ? sampleId : one))))).status).toBe(404);
  });

  test('no path reads anything outside, and the server continues', async () => {
    const part = fc.oneof(
      fc.constantFrom(
        '..',
        '.',
        '',
        '%2e%2e',
        '%2f',
        '\\',
        'api',
        'runs',
        'cases',
        'secret.txt',
        '%00',
        sampleId,
      ),
      fc.string({ unit: 'grapheme-ascii', maxLength: 6 }).map(encodeURIComponent),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 8 }), async (parts) => {
        const { status, body } = await get(`/${parts.join('/')}`);
        expect(body).not.toContain('SECRET');
        expect([200, 400, 404]).toContain(status);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a run directory that someone else made', () => {
  const secret = '../../../../secret.txt';
  const id = '2023-hostile-paths';

  test('no path, id or link reads anything outside the case', async () => {
    const caseIds = ['a', '../..', '..', 'linked-folder', 'linked-file'];
    const logs = { stdout_path: secret, stderr_path: join(outputDirectory, '..', 'secret.txt') };
    const row = { command: 'x', exit_code: 1, duration_seconds: 1, ended: 'exit' as const, ...logs };
    const record = await createRunRecord(outputDirectory, { ...manifestOf(caseIds), run_id: id });
    await record.startCase('a');
    await record.finishCase(
      rowOf('a', { validation_results: [row, { ...row, stdout_path: '../../manifest.json' }] }),
    );
    await record[Symbol.asyncDispose]();
    const cases = join(outputDirectory, id, 'cases');
    await mkdir(join(cases, 'linked-file'));
    await symlink(join(outputDirectory, '..', 'secret.txt'), join(cases, 'linked-file', 'prompt.md'));
    await symlink(join(outputDirectory, sampleId, 'cases', 'case-0-0-0-2'), join(cases, 'linked-folder'));

    for (const caseId of caseIds) {
      const detail = await getJson<CaseDetail>('runs', id, 'cases', caseId);
      expect(detail.files, caseId).toEqual([]);
      for (const name of ['prompt', 'validation-0-stdout', 'validation-0-stderr', 'validation-1-stdout']) {
        expect((await get(api('runs', id, 'cases', caseId, name))).status, `${caseId} ${name}`).toBe(404);
      }
    }
  });

  test('the readable part of a damaged journal is served', async () => {
    const journal = join(outputDirectory, id, 'journal.jsonl');
    const before = await readFile(journal);
    await appendFile(journal, '{"type":"case.finished","case_id":"a","row":{}}\nnull\n\0\n{"torn');
    expect(await getJson<RunDetail>('runs', id)).toMatchObject({ summary: { cases: { finished: 1 } } });
    await writeFile(journal, before);
  });
});

test('nothing is written to the run directories', async () => {
  const before = await readdir(outputDirectory, { recursive: true });
  await getJson<RunList>('runs');
  await getJson<RunDetail>('runs', sampleId);
  expect(await readdir(outputDirectory, { recursive: true })).toEqual(before);
});

test('closing ends connections that are open, and is safe to repeat', async () => {
  const closing = await serveRuns({ outputDirectory });
  const { hostname, port } = new URL(closing.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const ended = once(socket, 'close');
  await Promise.all([closing.close(), closing.close()]);
  await ended;
});
