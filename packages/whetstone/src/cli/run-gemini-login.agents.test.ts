import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { programs } from '../../../../examples/real-agents/install.ts';
import { startCodeAssist } from './__fixtures__/code-assist.ts';
import { everything, makeProject } from './__fixtures__/project.ts';

const scopes =
  'https://www.googleapis.com/auth/cloud-platform https://www.googleapis.com/auth/userinfo.email';
const usersToken = 'ya29.of-the-user-0001';
const renewedToken = 'ya29.of-the-user-0002';
const refreshToken = '1//of-the-user-refresh-0001';

const inAnHour = () => Date.now() + 3_600_000;

test.each([
  ['the login of the user', { access_token: usersToken, expiry_date: inAnHour() }, usersToken],
  [
    'a login that has expired, and the user gets the renewed one',
    { access_token: usersToken, expiry_date: 1 },
    renewedToken,
  ],
])('Gemini CLI signs in with %s', async (_, given, valid) => {
  const renewal = { access_token: renewedToken, expires_in: 3599, scope: scopes, token_type: 'Bearer' };
  await using google = await startCodeAssist(valid, renewal);
  using project = makeProject({
    tasks: [{ id: 'one', prompt: 'Say hello.' }],
    config: {
      // Without a model, Gemini CLI lets a model choose one, which takes a script of its own.
      agents: {
        gemini: { kind: 'gemini-cli', auth: 'login', model: 'gemini-2.5-flash', env: google.env },
      },
      variants: { plain: {} },
      gateway: { mode: 'forward' },
    },
  });
  const home = join(project.root, 'home');
  const file = join(home, '.gemini/oauth_creds.json');
  mkdirSync(dirname(file), { recursive: true });
  const login = { scope: scopes, token_type: 'Bearer', refresh_token: refreshToken, ...given };
  writeFileSync(file, JSON.stringify(login), { mode: 0o600 });

  const { stderr } = await project.whetstone(['run'], {
    HOME: home,
    PATH: [programs, process.env.PATH].join(delimiter),
  });
  expect(stderr).toContain('The agent gemini does not use the gateway: the calls of its login');
  const { rows, directory } = project.latest();
  expect(rows).toMatchObject([
    {
      outcome: 'passed',
      auth: 'login',
      usage_source: 'agent',
      output_tokens: 3,
      models: ['gemini-2.5-flash'],
    },
  ]);
  expect(google.refused).toEqual([]);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    access_token: valid,
    refresh_token: refreshToken,
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(everything(directory).toString()).not.toContain('of-the-user');
});
