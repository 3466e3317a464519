import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { fingerprintSurroundings } from '../plan/fingerprint.ts';
import { loadConfig } from './load-config.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'image-build-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a configuration with this sandbox below a folder of this name, and reads it. */
async function load(sandbox: object, name = 'one') {
  const place = join(folder, name);
  mkdirSync(join(place, 'docker'), { recursive: true });
  mkdirSync(join(place, 'repo'), { recursive: true });
  writeFileSync(join(place, 'docker/Dockerfile'), 'FROM node:24\n');
  writeFileSync(join(place, 'tasks.yaml'), stringify({ tasks: [{ id: 'one', prompt: 'x' }] }));
  const agents = { mine: { kind: 'custom', command: 'sh work.sh' } };
  const file = join(place, 'whetstone.yaml');
  writeFileSync(file, stringify({ repo: { path: 'repo' }, agents, variants: { plain: {} }, sandbox }));
  const { config } = await loadConfig(file);
  return { place, config, container: config.sandbox.container };
}

const BUILD = { provider: 'docker', build: { context: 'docker' } };

test('an image that is built has a name of its content, and its folder is not in the fingerprint', async () => {
  const { place, config, container } = await load(BUILD);
  expect(container).toEqual({
    image: expect.stringMatching(/^whetstone-build:[0-9a-f]{32}$/),
    build: { context: join(place, 'docker'), dockerfile: 'Dockerfile' },
  });
  const elsewhere = await load(BUILD, 'two');
  expect(elsewhere.container?.image).toBe(container?.image);
  const [one, two] = await Promise.all(
    [config, elsewhere.config].map((each) => fingerprintSurroundings(each, [])),
  );
  expect(one).toBe(two);
  writeFileSync(join(elsewhere.place, 'docker/tool'), 'x');
  expect((await load(BUILD, 'two')).container?.image).not.toBe(container?.image);
});

test.each([
  [
    'a folder that is not there',
    { ...BUILD, build: { context: 'none' } },
    /sandbox\.build\.context: does not exist/,
  ],
  [
    'a file that is not there',
    { ...BUILD, build: { context: 'docker', dockerfile: 'Other' } },
    /sandbox\.build\.dockerfile: does not exist/,
  ],
  ['an image beside it', { ...BUILD, image: 'node:24' }, /sandbox\.image: has no effect beside `build`/],
])('%s is an error', async (_, sandbox, message) => {
  await expect(load(sandbox)).rejects.toThrow(message);
});
