import { WhetstoneError } from '@whetstone/errors';
import { describe, expect, test } from 'vitest';
import { type Comment, type Refusal, startForge } from './__fixtures__/fake-forge.ts';
import { putComment } from './forge.ts';

const marker = '<!-- whetstone whetstone.yaml -->';
const token = 'token-of-the-job';
const platform = (kind: 'github' | 'gitlab', api: string) => ({
  ...{ kind, isFork: false, links: {} },
  request: { api, project: kind === 'github' ? 'acme/tea' : '42', number: 7 },
});
const others = (count: number): Comment[] =>
  Array.from({ length: count }, (_, id) => ({ id, body: 'A remark.', author: 'somebody', bot: false }));

describe.each(['github', 'gitlab'] as const)('the comment on %s', (kind) => {
  test('is written once, and found again behind two pages of other comments', async () => {
    await using forge = await startForge(kind, { comments: others(250) });
    const put = (body: string) => putComment(platform(kind, forge.api), { marker, body }, { token });
    expect(await put('First.')).toMatchObject({ done: 'created' });
    expect(await put('Second.')).toMatchObject({ done: 'updated' });
    expect(forge.comments).toHaveLength(251);
    expect(forge.comments.at(-1)?.body).toBe(`${marker}\nSecond.`);
  });

  test('of somebody else with the same marker stays as it is', async () => {
    const theirs = { id: 5, body: `${marker}\nMine.`, author: 'mallory', bot: false };
    await using forge = await startForge(kind, { comments: [theirs] });
    const written = await putComment(platform(kind, forge.api), { marker, body: 'Ours.' }, { token });
    expect(written.done).toBe('created');
    expect(forge.comments.map(({ body }) => body)).toEqual([`${marker}\nMine.`, `${marker}\nOurs.`]);
  });

  test.each<[string, Refusal, string, RegExp]>([
    [
      'a token that may not write',
      { status: 403, body: { message: 'Resource not accessible by integration' } },
      'Resource not accessible',
      /fork/,
    ],
    ['a request that does not exist', { status: 404, body: { message: '404 Not found' } }, '404', /number/],
    [
      'a text that is too long',
      { status: 422, body: { message: 'Validation Failed', errors: [{ field: 'body', code: 'too_long' }] } },
      'Validation Failed; {"field":"body","code":"too_long"}',
      /message/,
    ],
    ['a page that is not JSON', { status: 400, body: '<html>secret</html>' }, 'no JSON', /message/],
    [
      'a limit of requests for an hour',
      {
        status: 403,
        body: { message: 'API rate limit exceeded' },
        headers: {
          'x-ratelimit-remaining': '0',
          'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 3600),
        },
      },
      'API rate limit exceeded',
      /later/,
    ],
  ])('%s is an error with what the API said and what to do', async (_, refusal, said, hint) => {
    await using forge = await startForge(kind, { refusals: { POST: [refusal] } });
    const error = await putComment(platform(kind, forge.api), { marker, body: '' }, { token }).catch(
      (one) => one,
    );
    expect(error).toBeInstanceOf(WhetstoneError);
    expect(error.code).toBe('forge-refused');
    expect(error.message).toContain(`answered ${refusal.status}: ${said}`);
    expect(error.hint).toMatch(hint);
    expect(JSON.stringify(error)).not.toContain(token);
  });

  test('a wrong token is an error that does not repeat it', async () => {
    await using forge = await startForge(kind);
    const wrong = putComment(platform(kind, forge.api), { marker, body: '' }, { token: 'wrong-token' });
    await expect(wrong).rejects.toThrow(/answered 401/);
    await expect(wrong).rejects.not.toThrow(/wrong-token/);
  });

  test('short limits and failures of the server are waited for, as long as the API asks', async () => {
    const limited = { status: 429, body: { message: 'Too Many Requests' }, headers: { 'retry-after': '7' } };
    const broken = { status: 502, body: '<html>' };
    await using forge = await startForge(kind, { refusals: { GET: [limited], POST: [broken] } });
    const waits: number[] = [];
    const wait = async (seconds: number) => void waits.push(seconds);
    const written = await putComment(platform(kind, forge.api), { marker, body: 'x' }, { token, wait });
    expect([written.done, waits]).toEqual(['created', [7, 1]]);
  });
});

test('the token of a job, which may not ask who it is, takes the comment of a bot for its own, and no person’s', async () => {
  const comments = [
    { id: 1, body: `${marker}\nA person’s.`, author: 'mallory', bot: false },
    { id: 2, body: `${marker}\nEarlier.`, author: 'actions[bot]', bot: true },
  ];
  await using forge = await startForge('github', { self: null, comments });
  await putComment(platform('github', forge.api), { marker, body: 'Now.' }, { token });
  expect(forge.comments.map(({ body }) => body)).toEqual([`${marker}\nA person’s.`, `${marker}\nNow.`]);
});

test('a server that does not answer is an error with its address and without the token', async () => {
  const gone = platform('github', 'http://127.0.0.1:9');
  await expect(putComment(gone, { marker, body: '' }, { token })).rejects.toMatchObject({
    code: 'forge-unreachable',
    where: '127.0.0.1:9',
  });
});
