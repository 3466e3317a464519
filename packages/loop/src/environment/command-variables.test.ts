import fc from 'fast-check';
import { expect, test } from 'vitest';
import { filterVariables } from './command-variables.ts';

const SECRETS = [
  ...['OPENAI_API_KEY', 'OPENAI_KEY', 'AWS_SECRET_ACCESS_KEY', 'github_token', 'GITHUB_PAT', 'DB_PASSWORD'],
  ...['PGPASSWD', 'MY_CREDENTIALS', 'BASIC_AUTH', 'SSH_PRIVATE', 'SENTRY_DSN', 'SESSION_COOKIE', 'NPM_TOKEN'],
];
const CORE = [
  'PATH',
  'HOME',
  'USER',
  'SHELL',
  'LANG',
  'TERM',
  'TMPDIR',
  'GOPATH',
  'CARGO_HOME',
  'NVM_DIR',
  'LC_ALL',
];

const host = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 'value']));

test('a name that looks like a secret passes under no policy', async () => {
  for (const policy of ['all', 'core', 'none'] as const)
    expect(await filterVariables(host(SECRETS), policy)).toEqual({});
});

test('core variables pass under every policy but none', async () => {
  for (const policy of ['all', 'core'] as const)
    expect(Object.keys(await filterVariables(host(CORE), policy))).toEqual(CORE);
  expect(await filterVariables(host(CORE), 'none')).toEqual({});
});

test('an allowed name beats the filter on names; a password in an address passes under no name', async () => {
  expect(await filterVariables({ GIT_AUTHOR_NAME: 'Ada' }, 'core')).toEqual({ GIT_AUTHOR_NAME: 'Ada' });
  const address = 'https://user:hunter2@host/x';
  expect(await filterVariables({ HOME: address, PROXY: address }, 'all')).toEqual({});
});

test('whatever the host has: core is a part of all, none is empty, and values are as they were', async () => {
  const name = fc.oneof(fc.constantFrom(...SECRETS, ...CORE), fc.stringMatching(/^[A-Za-z_]\w{0,12}$/));
  await fc.assert(
    fc.asyncProperty(fc.dictionary(name, fc.string()), async (variables) => {
      const all = await filterVariables(variables, 'all');
      const core = await filterVariables(variables, 'core');
      expect(all).toMatchObject(core);
      expect(variables).toMatchObject(all);
      expect(Object.keys(all).some((key) => /KEY|TOKEN|SECRET|PASSW(?:OR)?D/i.test(key))).toBe(false);
      expect(await filterVariables(variables, 'none')).toEqual({});
    }),
  );
});

/** Made when the test runs, so that no scanner takes this file for a leak. */
const random = (length: number) => 'a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ'.repeat(4).slice(0, length);
const jwt = `${btoa('{"alg":"HS256"}')}.${btoa('{"sub":"1234567890"}')}.${random(43)}`.replaceAll('=', '');

test.each([
  ['a key of OpenAI', `sk-proj-${random(48)}`],
  ['a key of Anthropic', `sk-ant-api03-${random(90)}`],
  ['a key of Google', `AIza${random(35)}`],
  ['a token of GitHub', `ghp_${random(36)}`],
  ['a token of GitLab', `glpat-${random(20)}`],
  ['a token of npm', `npm_${random(36)}`],
  ['a token of Slack', `xoxb-123456789012-123456789012-${random(24)}`],
  ['a key of Stripe', `sk_live_${random(24)}`],
  ['an access key of AWS', `AKIA${'ABCDEFGH23456789'}`],
  ['a token of Hugging Face', `hf_${'abcdefghij'.repeat(4).slice(0, 34)}`],
  ['a JWT', jwt],
  ['a private key', `-----BEGIN RSA PRIVATE KEY-----\n${random(64)}\n-----END RSA PRIVATE KEY-----`],
  ['an address with a password', 'postgres://app:hunter2@db/app'],
  ['an address with a token', `https://${random(36)}@github.com/a/b.git`],
  ['a signed address', `https://host/x?se=1&sig=${random(20)}`],
  ['a connection string', `Endpoint=sb://x/;SharedAccessKey=${random(20)}`],
])('%s passes under no name and no policy', async (_what, value) => {
  for (const policy of ['all', 'core'] as const)
    expect(await filterVariables({ HOME: value, NOTE: `see ${value}`, BUILD: value }, policy)).toEqual({});
});

test('a random value passes unless its name is suspicious, and ordinary values always do', async () => {
  const value = random(32);
  const secrets = { WEBHOOK: value, API: value, DB_PASS: value, SIGNING: value };
  const ordinary = {
    BUILD_ID: value,
    PASSES: '3',
    API_BASE: 'https://api.example.com/v1',
    XDG_SESSION_ID: 'c2',
    DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/1000/bus',
    SSL_CERT_FILE: '/etc/ssl/certs/ca-certificates.crt',
    OLDPWD: '/home/ada/project-2/src1',
    COMMIT: '9fceb02d0ae598e95dc970b74767f19372d61af8',
    IMAGE: 'registry.example.com/team/app:1.2.3-20261122',
    GIT_SSH_COMMAND: 'ssh -i ~/.ssh/id_ed25519 git@github.com',
    REPOSITORY: 'ssh://git@github.com/a/b.git',
    LS_COLORS: 'rs=0:di=01;34:ln=01;36:mh=00',
  };
  expect(await filterVariables({ ...secrets, ...ordinary }, 'all')).toEqual(ordinary);
});
