// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of npm
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempDir } from '../workspace/__fixtures__/test-repo.ts';
import { INSTALLATION_FILES, prepareEnvironment } from './setup-environment.ts';

test('tokens in the files of npm and pip are secrets, also those in Base64 and in variables', () => {
  const home = makeTempDir();
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  mkdirSync(join(home, '.config/pip'), { recursive: true });
  writeFileSync(
    join(home, '.npmrc'),
    [
      '//registry.example/:_authToken=token-one',
      '//other.example/:_authToken = "${TEAM_TOKEN}"',
      `_auth=${base64('ada:password-two')}`,
      `//old.example/:_password=${base64('password-three')}`,
      'save-exact=true',
    ].join('\n'),
  );
  writeFileSync(
    join(home, '.config/pip/pip.conf'),
    '[global]\nindex-url = https://ada:password-four@pypi.example/simple\n',
  );
  const config = { prepare: [], timeoutSeconds: 1, services: [] };
  const { env, secrets } = prepareEnvironment(config, { HOME: home, TEAM_TOKEN: 'token-five' });
  expect(Object.keys(env)).toEqual(expect.arrayContaining(['NPM_CONFIG_USERCONFIG', 'PIP_CONFIG_FILE']));
  expect(secrets).toEqual(
    expect.arrayContaining([
      ...['token-one', 'token-five', 'password-two', 'password-three'],
      ...['ada:password-four', 'password-four'],
    ]),
  );
  expect(secrets).not.toContain('true');
  rmSync(home, { recursive: true });
});

test('folders of packages that pip.conf names are variables, so that sealed commands can be lent them', () => {
  const home = makeTempDir();
  mkdirSync(join(home, '.pip'));
  writeFileSync(
    join(home, '.pip/pip.conf'),
    '[global]\nfind-links = /opt/wheels\nextra-index-url =\n  https://pypi.example/simple\n  file:///opt/simple\nindex-url = https://pypi.example/simple\n',
  );
  const config = { prepare: [], timeoutSeconds: 1, services: [] };
  const of = (user: Record<string, string>) => prepareEnvironment(config, { HOME: home, ...user }).env;
  expect(of({})).toMatchObject({
    PIP_FIND_LINKS: '/opt/wheels',
    PIP_EXTRA_INDEX_URL: 'https://pypi.example/simple file:///opt/simple',
  });
  // pip reads an address itself, and a variable of the user counts more than the file.
  expect(of({})).not.toHaveProperty('PIP_INDEX_URL');
  expect(of({ PIP_FIND_LINKS: '/srv/wheels' })).toMatchObject({ PIP_FIND_LINKS: '/srv/wheels' });
  expect(INSTALLATION_FILES).toEqual(
    expect.arrayContaining(['PIP_FIND_LINKS', 'PIP_EXTRA_INDEX_URL', 'GOPROXY']),
  );
  rmSync(home, { recursive: true });
});
