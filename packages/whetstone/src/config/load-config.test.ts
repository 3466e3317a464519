// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the config
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from './load-config.ts';

const fixtures = join(import.meta.dirname, '__fixtures__');

describe('configs of context-eval', () => {
  it('loads the legacy shape with its defaults and path rules', async () => {
    const directory = join(fixtures, 'legacy');
    const { config, warnings, agentPath } = await loadConfig(join(directory, 'context-eval.yaml'), {
      cwd: '/',
    });
    expect(warnings).toEqual([]);
    expect(agentPath('myAgent')).toEqual(['agent']);
    expect(config).toEqual({
      file: join(directory, 'context-eval.yaml'),
      repo: { path: join(directory, 'project'), baseRef: 'main' },
      agents: [
        {
          name: 'myAgent',
          kind: 'custom',
          runner: 'command',
          command: { kind: 'shell', script: 'myAgent -p {prompt_file}' },
          timeoutSeconds: 3600,
          telemetry: {
            collector: 'none',
            file: 'telemetry.json',
            environmentVariable: 'CONTEXT_EVAL_TELEMETRY_FILE',
          },
          env: {},
        },
      ],
      tasksFile: join(directory, 'tasks.yaml'),
      tasks: [
        {
          id: 'fix-readme',
          prompt: 'Fix the readme.',
          setup: [],
          validation: { commands: [{ kind: 'shell', script: 'python -m pytest -q' }] },
          protectedPaths: [],
          extra: {},
        },
      ],
      variants: [
        {
          name: 'baseline',
          description: 'Current instructions',
          overlays: [
            { kind: 'copy', source: join(directory, 'contexts/baseline/AGENTS.md'), target: 'AGENTS.md' },
          ],
        },
        {
          name: 'experiment',
          description: '',
          overlays: [{ kind: 'copy', source: join(directory, 'contexts/experiment'), target: 'docs/notes' }],
        },
      ],
      baseline: 'baseline',
      evaluation: { commands: [{ kind: 'shell', script: 'python -m pytest -q' }] },
      outputDir: join(directory, '.context-eval/runs'),
      sandbox: { provider: 'auto' },
    });
  });

  it('loads a map of profiles of every kind, in file order', async () => {
    const directory = join(fixtures, 'profiles');
    const { config, warnings, agentPath } = await loadConfig('context-eval.yaml', { cwd: directory });
    expect(warnings).toEqual([]);
    expect(agentPath('coco')).toEqual(['agents', 'coco']);
    expect(config.agents.map(({ name, kind }) => `${name}:${kind}`)).toEqual([
      'zeta-codex:codex-cli',
      'claude:claude-code',
      'trae:traecli',
      'coco:coco',
      '10:custom',
    ]);
    expect(config.agents.map((agent) => agent.runner === 'command' && agent.telemetry)).toEqual([
      {
        collector: 'codex-jsonl',
        file: 'codex-events.jsonl',
        environmentVariable: 'CONTEXT_EVAL_TELEMETRY_FILE',
      },
      { collector: 'none', file: 'telemetry.json', environmentVariable: 'CONTEXT_EVAL_TELEMETRY_FILE' },
      { collector: 'none', file: 'telemetry.json', environmentVariable: 'CONTEXT_EVAL_TELEMETRY_FILE' },
      { collector: 'none', file: 'telemetry.json', environmentVariable: null },
      { collector: 'json-file', file: 'out/telemetry.json', environmentVariable: 'MY_TELEMETRY' },
    ]);
    expect(config.agents[1]).toMatchObject({ timeoutSeconds: 1800, network: 'enabled' });
    expect(config.agents[2]).toMatchObject({ promptTemplate: join(directory, 'prompt.md') });
    expect(config.variants.map(({ name }) => name)).toEqual(['plain', '2', '1']);
    expect(config.baseline).toBe('plain');
    expect(config.outputDir).toBe(join(directory, '.whetstone/runs'));
  });

  it('takes --tasks relative to the current directory', async () => {
    const { config } = await loadConfig('profiles/context-eval.yaml', {
      cwd: fixtures,
      tasksFile: 'legacy/tasks.yaml',
    });
    expect(config.tasksFile).toBe(join(fixtures, 'legacy/tasks.yaml'));
    expect(config.tasks.map(({ id }) => id)).toEqual(['fix-readme']);
    expect(config.outputDir).toBe(join(fixtures, '.whetstone/runs'));
  });
});

describe('a config with every key', () => {
  const directory = join(fixtures, 'every-key');

  it('reads the additions', async () => {
    const { config, warnings } = await loadConfig(join(directory, 'whetstone.yaml'));
    expect(warnings).toEqual([]);
    expect(config.seed).toBe('00012345678901234567890');
    expect(config.baseline).toBe('without');
    expect(config.gateway).toEqual({ mode: 'script', faults: [], script: join(directory, 'script.yaml') });
    expect(config.agents[0]).toMatchObject({
      kind: 'loop',
      timeoutSeconds: 90,
      loop: {
        profile: 'anthropic',
        model: 'claude-sonnet-4-5',
        baseUrl: 'http://127.0.0.1:9/v1',
        apiKeyEnv: 'MY_KEY',
        reasoningEffort: 'high',
        maxToolRounds: 40,
      },
    });
    expect(config.agents[0]).not.toHaveProperty('command');
    expect(config.agents[1]).toMatchObject({
      command: {
        kind: 'argv',
        argv: ['my-agent', '--prompt', '{prompt}', '--url={gateway_url}', '--key={gateway_key}'],
      },
    });
    expect(config.agents[1]?.env).toEqual({
      LITERAL: 'text',
      NUMBER: '007',
      FLAG: 'true',
      KEY: 'Bearer ${MY_KEY}',
    });
    expect(config.agents[2]).toMatchObject({
      kind: 'custom',
      module: { file: join(directory, 'agents/mine.ts'), model: 'model-1' },
    });
    expect(config.agents[2]).not.toHaveProperty('command');
    expect(config.variants[0]?.overlays).toEqual([
      { kind: 'copy', source: join(directory, 'overlay'), target: 'docs/agents' },
      { kind: 'remove', paths: ['AGENTS.md', 'old/notes'] },
    ]);
  });

  it('reads every key of a task, and merges what is expected into the hard checks', async () => {
    const { config } = await loadConfig(join(directory, 'whetstone.yaml'));
    expect(config.tasks[0]).toEqual({
      id: 'parse',
      title: 'Parse dates',
      prompt: 'Fix `parse`.\n\nIt\'s "broken".\n',
      category: 'bug',
      difficulty: 'hard',
      repoRef: 'v1',
      setup: [
        { kind: 'shell', script: 'npm ci' },
        { kind: 'argv', argv: ['make', 'deps'] },
      ],
      validation: { commands: [{ kind: 'shell', script: 'npm run test:parse' }], timeoutSeconds: 120 },
      hiddenTests: join(directory, 'hidden/parse'),
      protectedPaths: ['test/**', 'package.json'],
      timeoutSeconds: 600,
      expectedOutcome: {
        summary: 'Dates parse',
        acceptancePoints: ['leap years', 'time zones'],
        files: [
          {
            path: 'src/parse.js',
            changeType: 'modified',
            mustChange: true,
            expectedSnippets: ['leap'],
            forbiddenSnippets: ['TODO'],
          },
          {
            path: 'src/other.js',
            changeType: 'added',
            mustChange: false,
            expectedSnippets: [],
            forbiddenSnippets: [],
          },
        ],
        forbiddenPaths: ['package.json'],
      },
      hardEvaluation: {
        enabled: true,
        requireValidationPass: true,
        maxChangedFiles: 3,
        requiredPaths: ['CHANGELOG.md', 'src/parse.js'],
        forbiddenPaths: ['package.json', 'LICENSE'],
        expectedSnippets: [{ path: 'src/parse.js', snippets: ['leap', 'zone'] }],
        forbiddenSnippets: [{ path: 'src/parse.js', snippets: ['TODO'] }],
        commandChecks: [
          {
            label: 'lint',
            command: { kind: 'argv', argv: ['npm', 'run', 'lint'] },
            expected: 'ok',
            timeoutSeconds: 60,
          },
        ],
        minInsertions: 1,
        maxInsertions: 200,
        minDeletions: 0,
        maxDeletions: 50,
      },
      softEvaluation: {
        enabled: true,
        mode: 'payload-only',
        maxScore: 5,
        rubric: [{ name: 'clarity', weight: 2, description: '' }],
      },
      extra: { owner: 'team-a', links: { issue: 12 } },
    });
  });

  it('resolves validation commands and their timeout independently, and merges only where hard checks are on', async () => {
    const { config } = await loadConfig(join(directory, 'whetstone.yaml'));
    expect(config.tasks[1]?.validation).toEqual({
      commands: [
        { kind: 'shell', script: 'npm test' },
        { kind: 'argv', argv: ['node', '--test'] },
      ],
      timeoutSeconds: 5,
    });
    expect(config.tasks[1]).not.toHaveProperty('hardEvaluation');
    expect(config.tasks[2]?.hardEvaluation).toMatchObject({ enabled: false, forbiddenPaths: [] });
  });
});
