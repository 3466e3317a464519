// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of npm
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempDir } from '../workspace/__fixtures__/test-repo.ts';
import { prepareEnvironment } from './setup-environment.ts';

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
  expect(Object.keys(env)).toEqual(['NPM_CONFIG_USERCONFIG', 'PIP_CONFIG_FILE']);
  expect(secrets).toEqual(
    expect.arrayContaining([
      ...['token-one', 'token-five', 'password-two', 'password-three'],
      ...['ada:password-four', 'password-four'],
    ]),
  );
  expect(secrets).not.toContain('true');
  rmSync(home, { recursive: true });
});
