import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { send } from './__fixtures__/http.ts';
import { post, type Visitor, visit } from './__fixtures__/post.ts';
import { writeSampleRun } from './__fixtures__/run-directories.ts';
import type { ProjectState, RunLabels } from './api.ts';
import { runArguments, selectionSchema } from './project/selection.ts';
import { serveRuns, type ViewServer } from './server.ts';

let folder: string;
let config: string;
let id: string;
let server: ViewServer;
let visitor: Visitor;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'view-actions-'));
  id = await writeSampleRun(folder);
  config = join(folder, 'whetstone.yaml');
  await writeFile(config, 'agents: {}\n');
  server = await serveRuns({ outputDirectory: folder, config });
  visitor = await visit(server.url);
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const state = async (): Promise<ProjectState> =>
  JSON.parse((await send(server.url, '/api/project', { headers: { cookie: visitor.cookie } })).body);

describe('who may change something', () => {
  const save = (headers: Record<string, string>) =>
    post(visitor, '/api/config/save', { text: 'changed', revision: '' }, headers);

  test.each([
    ['without the key', { 'x-whetstone-key': '' }, 403],
    ['with a guessed key', { 'x-whetstone-key': 'guessed' }, 403],
    ['without the cookie', { cookie: '' }, 403],
    ['without an Origin', { origin: '' }, 403],
    ['from another port', { origin: 'http://127.0.0.1:1' }, 403],
    ['from another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['to a foreign name', { host: 'evil.example' }, 421],
    ['as a form', { 'content-type': 'application/x-www-form-urlencoded' }, 400],
    ['as text, which needs no preflight', { 'content-type': 'text/plain' }, 400],
  ])('a request %s is refused', async (_, headers, status) => {
    expect((await save(headers as Record<string, string>)).status).toBe(status);
    expect(await readFile(config, 'utf8')).toBe('agents: {}\n');
  });

  test('the cookie does not have the key in it', () => {
    expect(visitor.key).toHaveLength(43);
    expect(visitor.cookie).not.toContain(visitor.key);
  });

  test('a body that is too large is refused', async () => {
    const reply = await post(visitor, '/api/config/check', { text: 'x'.repeat(5 * 2 ** 20) }).catch(
      () => ({ status: 400 }), // the connection may end before all of it is sent
    );
    expect(reply.status).toBe(400);
  });
});

describe('the configuration', () => {
  test('is saved in one step, and not over a change of somebody else', async () => {
    const { config: before } = await state();
    expect(before).toMatchObject({ path: config, text: 'agents: {}\n', is_code: false });
    const saved = await post(visitor, '/api/config/save', {
      text: 'agents: {a: {}}\n',
      revision: before?.revision,
    });
    expect(saved.status, saved.body).toBe(200);
    expect(await readFile(config, 'utf8')).toBe('agents: {a: {}}\n');
    const late = await post(visitor, '/api/config/save', { text: 'lost', revision: before?.revision });
    expect(late.status).toBe(422);
    expect(late.body).toContain('was changed by somebody else');
    expect(await readFile(config, 'utf8')).toBe('agents: {a: {}}\n');
    await writeFile(config, 'agents: {}\n');
  });

  test.each([
    ['/api/config/save', {}],
    ['/api/config/check', { text: 1 }],
    ['/api/jobs/start', { trials: 0 }],
    ['/api/jobs/start', { agents: 'x' }],
    ['/api/jobs/start', { command: 'sh' }],
  ])('%s refuses %j', async (path, body) => {
    expect((await post(visitor, path, body)).status).toBe(400);
  });

  test.each(['/api/jobs/7/stop', '/api/jobs/start/more', '/api/config/none', '/api/nothing', '/elsewhere'])(
    '%s is nothing',
    async (path) => {
      expect((await post(visitor, path, {})).status).toBe(404);
    },
  );

  test('no name can be an option of the command', () => {
    const names = ['--resume', '-x', 'a b', '$(id)'];
    const given = selectionSchema.parse({ agents: names, tasks: names, variants: names, seed: '--json' });
    for (const argument of runArguments(given, '/x/--config')) expect(argument).toMatch(/^--[a-z-]+(=|$)/);
    expect(runArguments(given, '/c')).toContain('--agent=--resume');
  });
});

describe('a label', () => {
  const label = (caseId: string, body: unknown) =>
    post(visitor, `/api/runs/${id}/cases/${caseId}/label`, body);
  const labels = async (): Promise<RunLabels> =>
    JSON.parse(
      (await send(server.url, `/api/runs/${id}/labels`, { headers: { cookie: visitor.cookie } })).body,
    );

  test('is kept beside the run, in the form that "whetstone agreement" reads, and can be taken away', async () => {
    expect(await labels()).toEqual({ labels: [], agreement: null, problem: null });
    expect((await label('case-0-0-0-1', { human: 'passed', note: '<b>' })).status).toBe(200);
    expect((await label('case-0-0-0-1', { human: 'failed' })).status).toBe(200);
    expect((await label('case-0-0-0-2', { human: 'passed' })).status).toBe(200);
    const kept = (await readFile(join(folder, id, 'labels.jsonl'), 'utf8')).trim().split('\n');
    expect(kept.map((line) => JSON.parse(line))).toMatchObject([
      { id: 'case-0-0-0-1', human: 'failed' },
      { id: 'case-0-0-0-2', human: 'passed' },
    ]);
    expect((await labels()).problem).toBe('No judge judged this run.');
    await label('case-0-0-0-1', { human: null });
    await label('case-0-0-0-2', { human: null });
    expect((await labels()).labels).toEqual([]);
  });

  test.each([
    ['case-0-0-0-1', { human: 'good' }, 400],
    ['case-0-0-0-1', { human: 'passed', note: 'x'.repeat(10_001) }, 400],
    ['none', { human: 'passed' }, 404],
    ['..', { human: 'passed' }, 404],
  ])('of %s with %j is refused', async (caseId, body, status) => {
    expect((await label(caseId, body)).status).toBe(status);
    expect(existsSync(join(folder, 'label'))).toBe(false);
  });
});
