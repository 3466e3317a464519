import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readRun } from '../record/read-run.ts';
import { compareRuns } from '../report/compare-runs.ts';
import { sideOf } from '../report/side-of.ts';
import { cookieFrom, send } from './__fixtures__/http.ts';
import { writeSampleRun } from './__fixtures__/run-directories.ts';
import { serveRuns, type ViewServer } from './server.ts';

let folder: string;
let id: string;
let server: ViewServer;
let cookie: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'view-compare-'));
  id = await writeSampleRun(folder);
  server = await serveRuns({ outputDirectory: folder });
  cookie = await cookieFrom(server.url);
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const compare = (query: Record<string, string>) =>
  send(server.url, `/api/compare?${new URLSearchParams(query)}`, { headers: { cookie } });

test('the server compares two arms as "whetstone compare" does', async () => {
  const { status, body } = await compare({ a: id, 'arm-a': 'baseline', b: id, 'arm-b': 'agents-md' });
  expect(status).toBe(200);
  const run = await readRun(join(folder, id));
  const [a, b] = [`${id}:baseline`, `${id}:agents-md`].map((label) =>
    sideOf(label, run, label.slice(id.length + 1)),
  );
  expect(JSON.parse(body)).toEqual(JSON.parse(JSON.stringify(a && b && compareRuns(a, b))));
});

test.each([
  [{ a: 'ID', b: 'ID' }, 422, /same arms of the same run/],
  [{ a: 'ID', 'arm-a': 'nobody', b: 'ID' }, 422, /has no arm nobody/],
  [{ a: 'ID', b: '../x' }, 404, /no such thing/],
  [{}, 404, /no such thing/],
])('%j cannot be compared: %i', async (query, status, message) => {
  const answer = await compare(
    Object.fromEntries(Object.entries(query).map(([name, value]) => [name, value.replace('ID', id)])),
  );
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.body).error).toMatch(message);
});
