import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { publicPackages } from './public-packages.ts';
import { publishedManifest, publishedReadme, RELATIVE_LINK, webAddress } from './published-package.ts';

const root = join(import.meta.dirname, '../..');
const place = { folder: 'packages/loop', version: '1.2.3', address: 'https://git.example/team/whetstone' };

test.each([
  ['https://git.example/team/whetstone.git', place.address],
  ['https://token@git.example/team/whetstone', place.address],
  ['git@git.example:team/whetstone.git', place.address],
  ['ssh://git@git.example:2222/team/whetstone.git', place.address],
  ['/home/me/whetstone', undefined],
  ['../whetstone', undefined],
])('the page of the remote %s is %s', (remote, address) => {
  expect(webAddress(remote)).toBe(address);
});

test('a published manifest says where the package comes from, and has compiled exports', () => {
  const manifest = { name: '@whetstone/loop', exports: { '.': './src/index.ts' }, scripts: { prepack: 'x' } };
  expect(publishedManifest(manifest, place)).toEqual({
    name: '@whetstone/loop',
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
    repository: {
      type: 'git',
      url: 'git+https://git.example/team/whetstone.git',
      directory: 'packages/loop',
    },
    homepage: 'https://git.example/team/whetstone/tree/HEAD/packages/loop#readme',
    bugs: 'https://git.example/team/whetstone/issues',
  });
});

test('links of a published README lead to the files of its version', () => {
  const text = '[a](../../docs/a.md#b), [c](src/c.ts), [d](https://d.example), [e](#e)';
  expect(publishedReadme(text, place)).toBe(
    '[a](https://git.example/team/whetstone/blob/v1.2.3/docs/a.md#b), [c](https://git.example/team/whetstone/blob/v1.2.3/packages/loop/src/c.ts), [d](https://d.example), [e](#e)',
  );
});

describe.each(publicPackages(root))('$name', ({ folder }) => {
  test('has a README whose links exist', () => {
    const links = readFileSync(join(folder, 'README.md'), 'utf8').matchAll(RELATIVE_LINK);
    const files = [...links].map(([, target = '']) => target.replace(/#.*/, ''));
    expect(files.filter((file) => !existsSync(join(folder, file)))).toEqual([]);
  });

  test('has a licence, a description and keywords', () => {
    const { license, description, keywords } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    expect(license).toBe('MIT');
    expect(description).toMatch(/\w/);
    expect(keywords.length).toBeGreaterThan(2);
  });
});
