import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { renderCommand } from '@whetstone/agents/config';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../config/load-config.ts';
import { type InitOptions, initCommand } from './init.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'init-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function init(options: Partial<InitOptions> = {}): Promise<{ code: number; output: string }> {
  const stdout = new PassThrough();
  const code = await initCommand({ directory: '.', repoPath: '.', ...options }, { stdout }, folder);
  stdout.end();
  return { code, output: await text(stdout) };
}

describe('initCommand', () => {
  it('writes a config of one agent that loads without a warning', async () => {
    const { code, output } = await init();
    expect(code).toBe(0);
    expect(output).toContain('Wrote whetstone.yaml\nWrote tasks.yaml\nWrote contexts/baseline/AGENTS.md\n');
    const { config, warnings } = await loadConfig('whetstone.yaml', { cwd: folder });
    expect(warnings).toEqual([]);
    expect(config.repo.path).toBe(folder);
    expect(config.agents).toMatchObject([{ name: 'stand-in', kind: 'custom' }]);
    expect(config.variants.map(({ name }) => name)).toEqual(['baseline', 'experiment']);
    expect(config.baseline).toBe('baseline');
  });

  it('writes a stand-in agent that does the task of the starter, so that the first run passes', async () => {
    await init();
    const { config } = await loadConfig('whetstone.yaml', { cwd: folder });
    const [agent] = config.agents;
    const [task] = config.tasks;
    if (agent?.runner !== 'command' || !task) throw new Error('the starter has an agent and a task');
    writeFileSync(join(folder, 'prompt.md'), task.prompt);
    const scripts = [
      renderCommand(agent.command, { prompt_file: join(folder, 'prompt.md') }),
      ...task.validation.commands,
    ];
    for (const command of scripts) {
      if (command.kind === 'shell') execFileSync('/bin/sh', ['-c', command.script], { cwd: folder });
    }
    expect(readFileSync(join(folder, 'NOTES.md'), 'utf8')).toBe(task.prompt);
  });

  it('writes presets of every command kind that load without a warning', async () => {
    await init({ agentProfiles: true, agentCommand: `tool --say "it's {prompt}"` });
    const { config, warnings } = await loadConfig('whetstone.yaml', { cwd: folder });
    expect(warnings).toEqual([]);
    expect(config.agents.map(({ name, kind }) => [name, kind])).toEqual([
      ['codex', 'codex-cli'],
      ['claude', 'claude-code'],
      ['trae', 'traecli'],
      ['coco', 'coco'],
      ['bub', 'bub'],
      ['custom', 'custom'],
    ]);
    expect(config.agents[0]).toMatchObject({
      command: {
        script:
          'codex exec --json --sandbox workspace-write --skip-git-repo-check --output-last-message {output_dir}/codex-final-message.md -C {workspace} - < {prompt_file}',
      },
      telemetry: { collector: 'codex-jsonl' },
    });
    expect(config.agents[5]).toMatchObject({
      command: { kind: 'shell', script: `tool --say "it's {prompt}"` },
    });
  });

  it('takes an agent command, and a repository elsewhere', async () => {
    await init({ directory: 'eval', repoPath: '.', agentCommand: 'agent: #x {prompt_file}' });
    const { config, warnings } = await loadConfig('eval/whetstone.yaml', { cwd: folder });
    expect(warnings).toEqual([]);
    expect(config.repo.path).toBe(folder);
    expect(config.agents[0]).toMatchObject({ command: { kind: 'shell', script: 'agent: #x {prompt_file}' } });
  });

  it('refuses to overwrite files, and names them, unless --force is set', async () => {
    writeFileSync(join(folder, 'tasks.yaml'), 'mine');
    await expect(init()).rejects.toMatchObject({
      code: 'init-exists',
      message: 'These files exist already: tasks.yaml',
      exitCode: 2,
    });
    expect(readFileSync(join(folder, 'tasks.yaml'), 'utf8')).toBe('mine');
    await expect(loadConfig('whetstone.yaml', { cwd: folder })).rejects.toThrow('does not exist');
    await init({ force: true });
    expect(readFileSync(join(folder, 'tasks.yaml'), 'utf8')).toContain('first-task');
  });
});
