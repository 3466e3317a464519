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

test('a name that looks like a secret passes under no policy', () => {
  for (const policy of ['all', 'core', 'none'] as const)
    expect(filterVariables(host(SECRETS), policy)).toEqual({});
});

test('core variables pass under every policy but none', () => {
  for (const policy of ['all', 'core'] as const)
    expect(Object.keys(filterVariables(host(CORE), policy))).toEqual(CORE);
  expect(filterVariables(host(CORE), 'none')).toEqual({});
});

test('an allowed name beats the filter on names; a password in an address passes under no name', () => {
  expect(filterVariables({ GIT_AUTHOR_NAME: 'Ada' }, 'core')).toEqual({ GIT_AUTHOR_NAME: 'Ada' });
  const address = 'https://user:hunter2@host/x';
  expect(filterVariables({ HOME: address, PROXY: address }, 'all')).toEqual({});
});

test('whatever the host has: core is a part of all, none is empty, and values are as they were', () => {
  const name = fc.oneof(fc.constantFrom(...SECRETS, ...CORE), fc.stringMatching(/^[A-Za-z_]\w{0,12}$/));
  fc.assert(
    fc.property(fc.dictionary(name, fc.string()), (variables) => {
      const all = filterVariables(variables, 'all');
      const core = filterVariables(variables, 'core');
      expect(all).toMatchObject(core);
      expect(variables).toMatchObject(all);
      expect(Object.keys(all).some((key) => /KEY|TOKEN|SECRET|PASSW(?:OR)?D/i.test(key))).toBe(false);
      expect(filterVariables(variables, 'none')).toEqual({});
    }),
  );
});
