import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drivenAgents } from '@whetstone/agents';
import { openPermissions } from '@whetstone/agents/config';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { anyCharacter } from '../../../events/src/__fixtures__/any-character.ts';
import { exportLines, writeShellSettings } from './shell-settings.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shell-settings-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const connection = () => ({
  access: { kind: 'key', baseUrl: 'http://127.0.0.1:1/lanes/x', key: 'sk-whetstone-k' } as const,
  model: 'm',
  home: join(folder, 'home'),
  workingDirectory: folder,
  permissions: openPermissions,
});

describe.each(Object.values(drivenAgents))('$kind', (agent) => {
  test('the shell of the user gets the gateway, and keeps its HOME and its safeguards', async () => {
    const env = await writeShellSettings(agent, connection());
    const names = Object.keys(env);
    expect(names.filter((name) => /^(HOME|XDG_|IS_SANDBOX|.*TRUST|.*YOLO)/.test(name))).toEqual([]);
    const files = Object.keys(agent.launch.settings(connection()).files).map((path) =>
      join(folder, 'home', path),
    );
    const written = files.filter((file) => existsSync(file));
    const texts = [...Object.values(env), ...written.map((file) => readFileSync(file, 'utf8'))].join('\n');
    expect(texts).toContain('http://127.0.0.1:1/lanes/x');
    expect(texts).toContain('sk-whetstone-k');
    for (const file of written) expect(statSync(file).mode & 0o077).toBe(0);
  });
});

test('files are written only where a variable of the agent names their folder', async () => {
  const files = { '.own/settings.json': '{}', '.other/settings.json': '{}' };
  const agent = {
    ...drivenAgents.pi,
    launch: {
      ...drivenAgents.pi.launch,
      settings: ({ home }: { home: string }) => ({
        env: { OWN_HOME: join(home, '.own'), HOME: home },
        files,
      }),
    },
  };
  expect(await writeShellSettings(agent, connection())).toEqual({ OWN_HOME: join(folder, 'home/.own') });
  expect(readFileSync(join(folder, 'home/.own/settings.json'), 'utf8')).toBe('{}');
  expect(existsSync(join(folder, 'home/.other'))).toBe(false);
});

test('the shell keeps any value', () => {
  const value = fc
    .string({ unit: anyCharacter })
    .filter((text) => !text.includes('\0') && text.isWellFormed());
  fc.assert(
    fc.property(fc.array(value, { minLength: 10, maxLength: 50 }), (values) => {
      const env = Object.fromEntries(values.map((each, index) => [`VALUE_${index}`, each]));
      const print = `process.stdout.write(JSON.stringify(process.env))`;
      const script = `${exportLines(env)}exec '${process.execPath}' -e '${print}'`;
      const seen = JSON.parse(execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8', env: {} }));
      expect(seen).toMatchObject(env);
    }),
    { numRuns: 5 },
  );
});
