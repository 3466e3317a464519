import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { executableOf, findOnPath } from '@whetstone/agents/config';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkExecutable } from './check-executables.ts';

describe('executableOf', () => {
  it.each([
    ['codex exec -C {workspace} - < {prompt_file}', 'codex'],
    ['FOO=1 BAR="a b" codex exec', 'codex'],
    ['FOO=$(date) codex', undefined],
    ['cd sub && codex', 'codex'],
    ['cd "{workspace}" && FOO=1 ./run.sh', './run.sh'],
    ['set -e; export A=1\ncodex', 'codex'],
    ['cd a || exit 1; codex', undefined],
    ['exec codex', 'codex'],
    ['env A=1 codex', 'codex'],
    ['env -i codex', undefined],
    ['"/opt/my agent/bin" -p x', '/opt/my agent/bin'],
    ["'my agent'", 'my agent'],
    ['my\\ agent', 'my agent'],
    ['{workspace}/run.sh', '{workspace}/run.sh'],
    ['< {prompt_file} codex', 'codex'],
    ['2>/dev/null codex', 'codex'],
    ['# comment\n  codex', 'codex'],
    ['\\\n codex', 'codex'],
    ['codex|tee log', 'codex'],
    ['codex;true', 'codex'],
    ['$TOOL run', undefined],
    ['"$HOME/bin/x"', undefined],
    ['`which x`', undefined],
    ['if true; then codex; fi', undefined],
    ['(codex)', 'codex'],
    ['{{ codex; }}', undefined],
    ['', undefined],
    ['"unclosed', undefined],
  ])('of %j is %j', (script, executable) => {
    expect(executableOf({ kind: 'shell', script })).toBe(executable);
  });

  it('is the first argument of an argument vector', () => {
    expect(executableOf({ kind: 'argv', argv: ['my agent', '-p'] })).toBe('my agent');
  });

  it('finishes on any text', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...'\'"\\ \n;&|()<>$`#a=1{}'.split(''))), (parts) => {
        executableOf({ kind: 'shell', script: parts.join('') });
      }),
    );
  });
});

describe('checkExecutable', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'executables-'));
    mkdirSync(join(folder, 'bin/folder'), { recursive: true });
    mkdirSync(join(folder, 'repo/scripts'), { recursive: true });
    for (const name of ['bin/tool', 'repo/scripts/agent.sh']) {
      writeFileSync(join(folder, name), '#!/bin/sh\n');
      chmodSync(join(folder, name), 0o755);
    }
    writeFileSync(join(folder, 'bin/plain'), '');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const check = (script: string) =>
    checkExecutable(
      { kind: 'shell', script },
      ['agent', 'command'],
      { repo: { path: join(folder, 'repo'), baseRef: 'HEAD' } },
      findOnPath(join(folder, 'bin')),
    );

  it('looks on the PATH, in the repository, or at the absolute path', async () => {
    expect(await check('tool x')).toMatchObject({ kind: 'found', file: join(folder, 'bin/tool') });
    expect(await check('scripts/agent.sh')).toMatchObject({ kind: 'found' });
    expect(await check(`${join(folder, 'bin/tool')} x`)).toMatchObject({ kind: 'found' });
  });

  it.each(['nothing', 'plain', 'folder', 'scripts/none.sh', '/nowhere/tool', 'scripts'])(
    'misses %s',
    async (script) => {
      expect(await check(script)).toMatchObject({ kind: 'missing', executable: script });
    },
  );

  it('reports what it cannot know', async () => {
    expect(await check('{workspace}/run.sh')).toMatchObject({
      kind: 'unknown',
      executable: '{workspace}/run.sh',
    });
    expect(await check('$TOOL')).toMatchObject({ kind: 'unknown' });
  });
});
