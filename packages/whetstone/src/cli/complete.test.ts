import { expect, test } from 'vitest';
import { makeProject } from './__fixtures__/project.ts';

test('completes commands, options, choices, and the ids of the config and of runs', async () => {
  using project = makeProject({
    config: { variants: { baseline: {}, 'with-rules': {} } },
    tasks: [{ id: 'one', prompt: 'x', category: 'bug' }],
  });
  expect(await project.whetstone(['run', '--variant', 'baseline'])).toMatchObject({ exitCode: 0 });
  const { manifest } = project.latest();
  const after = async (...words: string[]) => {
    const { stdout, stderr, exitCode } = await project.whetstone(['complete', '--', ...words]);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0]]));
  };
  expect(await after('va')).toEqual(['validate-config']);
  expect(await after('')).not.toContain('complete');
  expect(await after('gateway', '')).toContain('env');
  expect(await after('run', '--dr')).toEqual(['--dry-run']);
  expect(await after('report', 'latest', '--format', '')).toEqual([
    'md',
    'json',
    'csv',
    'junit',
    'context-eval',
    'html',
  ]);
  expect(await after('run', '--agent', '')).toEqual(['writer']);
  expect(await after('run', '--jobs', '2', '--variant', 'w')).toEqual(['with-rules']);
  expect(await after('run', '--variant', '=', 'b')).toEqual(['baseline']); // how bash splits --variant=b
  expect(await after('run', '--task-id', '')).toEqual(['one']);
  expect(await after('run', '--category', '')).toEqual(['bug']);
  expect(await after('run', '--resume', '')).toEqual(['latest', manifest.run_id]);
  expect(await after('show', 'latest', '')).toEqual(['one__baseline__writer__trial-1']);
  const ofConfig = [
    ['ci', 'run'],
    ['audit', 'agent'],
    ['canary', 'start'],
    ['calibrate'],
    ['try', 'AGENTS.md'],
  ];
  for (const words of ofConfig) expect(await after(...words, '--agent', '')).toEqual(['writer']);
  expect(await after('exp', '--agent', 'pi')).toEqual(['pi']);
  expect(await after('try', 'AGENTS.md', '-c', 'missing.yaml', '--agent', 'pi')).toEqual(['pi']);
  expect(await after('audit', '--task', '')).toEqual(['one']);
  for (const words of [['compare'], ['compare', 'latest'], ['calibrate'], ['run', '--bridge']])
    expect(await after(...words, '')).toEqual(['latest', manifest.run_id]);
  expect(await after('agents', 'install', 'codex')).toEqual(
    expect.arrayContaining(['codex-cli', 'codex-sdk']),
  );
  expect(await after('errors', 'run-not')).toEqual(['run-not-found']);
  expect(await after('run', '--config', '')).toEqual([]);
  expect(await after('run', '--agent', 'x', '-c', 'missing.yaml', '--task-id', '')).toEqual([]);
});

test('prints a script for each shell, and suggests one for a mistyped shell', async () => {
  using project = makeProject();
  const bash = await project.whetstone(['completion', 'bash', '--json']);
  expect(JSON.parse(bash.stdout)).toMatchObject({
    shell: 'bash',
    script: expect.stringContaining('complete -o'),
  });
  expect(await project.whetstone(['completion', 'tcsh'])).toMatchObject({ exitCode: 2, stdout: '' });
});
