import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FakeAgent, installFakePi } from '../capture/__fixtures__/fake-pi.ts';
import { BIN } from './__fixtures__/project.ts';

const agent: FakeAgent = {
  version: '1.0.0',
  system: ['Be brief.\nWork in {cwd}.'],
  tools: [{ name: 'bash', description: 'Runs.', input_schema: { type: 'object' } }],
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'capture-cli-'));
  mkdirSync(join(folder, 'project'));
  installFakePi(join(folder, 'bin'), agent);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function capture(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, 'agents', 'capture', ...args], {
    cwd: join(folder, 'project'),
    env: {
      PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}`,
      HOME: folder,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...env,
    },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('whetstone agents capture', () => {
  test('keeps the capture in the cache, and nothing where it was called', () => {
    const { status, stdout } = capture(['pi', '--model', 'm-1']);
    const file = join(folder, '.cache/whetstone/captures/pi/1.0.0/m-1.json');
    expect(status).toBe(0);
    expect(stdout).toContain('pi 1.0.0, m-1 (anthropic-messages)');
    expect(stdout).toContain('1 block, ');
    expect(stdout).toContain('1: bash');
    expect(stdout).toContain(file);
    const kept = JSON.parse(readFileSync(file, 'utf8'));
    expect(kept).toMatchObject({ kind: 'pi', agentVersion: '1.0.0', model: 'm-1', tools: agent.tools });
    expect(stdout).toContain(kept.hash);
    expect(readdirSync(join(folder, 'project'))).toEqual([]);
  });

  test.skipIf(spawnSync('unshare', ['--mount', 'true']).status !== 0)(
    'nothing of the machine is above its workspace',
    { tags: 'namespaces' },
    () => {
      writeFileSync(join(folder, 'AGENTS.md'), 'Of the machine.\n');
      const { status, stderr } = capture(['pi', '--model', 'm-1'], { TMPDIR: folder });
      expect(status, stderr).toBe(0);
      const file = join(folder, '.cache/whetstone/captures/pi/1.0.0/m-1.json');
      expect(JSON.parse(readFileSync(file, 'utf8')).systemPrompt[0]).toMatch(
        /Work in \/w\d?\/capture\/workspace/,
      );
    },
  );

  test('--diff: exit 0 at first and when nothing changed, 1 with what changed', () => {
    const first = capture(['pi', '--diff']);
    expect(first.status).toBe(0);
    expect(first.stdout).toContain('no earlier capture');
    const same = capture(['pi', '--diff']);
    expect(same.status).toBe(0);
    expect(same.stdout).toContain('Nothing changed since 1.0.0');
    installFakePi(join(folder, 'bin'), {
      ...agent,
      version: '1.1.0',
      system: ['Be long.\nWork in {cwd}.'],
      tools: [...agent.tools, { name: 'grep\u001b[31m', description: '', input_schema: {} }],
    });
    const changed = capture(['pi', '--diff']);
    expect(changed.status).toBe(1);
    expect(changed.stdout).toContain('tools added: grep\n');
    expect(changed.stdout).toContain('\n-Be brief.\n+Be long.\n');
    expect(changed.stdout).toContain('--- prompt (pi 1.0.0, ');
    expect(changed.stdout).not.toContain('\u001b');
    expect(capture(['pi', '--diff'], { FORCE_COLOR: '1' }).status).toBe(0);
  });

  test('--json has the figures and the changes, --output another copy of the capture', () => {
    capture(['pi']);
    const write = { name: 'write', description: 'Writes.', input_schema: {} };
    installFakePi(join(folder, 'bin'), { ...agent, tools: [write] });
    const { status, stdout } = capture(['pi', '--diff', '--json', '--output', 'copy.json']);
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      kind: 'pi',
      agent_version: '1.0.0',
      wire: 'anthropic-messages',
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      tools: ['write'],
      same: false,
      tools_added: ['write'],
      tools_removed: ['bash'],
    });
    const copy = join(folder, 'project/copy.json');
    expect(readFileSync(copy, 'utf8')).toBe(readFileSync(JSON.parse(stdout).file, 'utf8'));
    expect(statSync(copy).mode & 0o777).toBe(0o600);
  });

  test('takes the agent that was installed for Whetstone where none is on the PATH', () => {
    const installed = join(folder, '.cache/whetstone/agents/pi/1.0.1/bin');
    installFakePi(installed, { ...agent, version: '1.0.1' });
    expect(capture(['pi']).stdout).toContain('pi 1.0.0, ');
    rmSync(join(folder, 'bin'), { recursive: true });
    const { status, stdout, stderr } = capture(['pi']);
    expect(status, stderr).toBe(0);
    expect(stdout).toContain('pi 1.0.1, ');
  });

  test('a copy that cannot be written is reported', () => {
    const { status, stderr } = capture(['pi', '--output', join(folder, 'bin')]);
    expect(status).toBe(3);
    expect(stderr).toContain(`${join(folder, 'bin')}: The capture cannot be written: `);
    expect(readdirSync(folder).filter((name) => name.startsWith('bin.'))).toEqual([]);
  });

  test('an agent that is not installed: how to install it; an unknown one: the known agents', () => {
    const missing = capture(['qwen-code'], { PATH: join(folder, 'bin') });
    expect(missing).toMatchObject({ status: 2, stdout: '' });
    expect(missing.stderr).toContain(
      'whetstone agents install qwen-code, or npm install -g @qwen-code/qwen-code',
    );
    const unknown = capture(['qwne-code']);
    expect(unknown).toMatchObject({ status: 2, stdout: '' });
    expect(unknown.stderr).toContain('did you mean qwen-code?');
  });
});
