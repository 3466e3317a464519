import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { startForge } from '../ci/__fixtures__/fake-forge.ts';
import { runGit } from '../workspace/__fixtures__/test-repo.ts';
import { makeProject, type Project } from './__fixtures__/project.ts';

/** Passes where AGENTS.md says so. */
const READER =
  'if grep -q tests AGENTS.md 2>/dev/null; then echo good > done.txt; else echo bad > done.txt; fi';
const KEY = 'sk-the-key-of-the-provider';

describe('a pull request that changes AGENTS.md', () => {
  let project: Project;
  let base: string;
  const commit = (message: string) => {
    runGit(project.repo, ['add', '--all']);
    runGit(project.repo, ['commit', '-qm', message]);
    return runGit(project.repo, ['rev-parse', 'HEAD']).trim();
  };
  const write = (path: string, text: string) => {
    mkdirSync(join(project.repo, path, '..'), { recursive: true });
    writeFileSync(join(project.repo, path), text);
  };
  beforeAll(() => {
    project = makeProject({
      agents: { reader: READER },
      config: { evaluation: { commands: ['grep -q good done.txt'] } },
      tasks: ['one', 'two', 'three', 'four'].map((id) => ({ id, prompt: 'Do it.' })),
    });
    write('AGENTS.md', 'Be brief.\n');
    base = commit('base');
    write('AGENTS.md', 'Run the tests.\n');
    write('.claude/skills/tea/SKILL.md', '---\nname: tea\ndescription: Brews.\n---\nBrew.\n');
    commit('change');
  });
  afterAll(() => project[Symbol.dispose]());

  const event = (head: string) => {
    const file = join(project.root, 'event.json');
    writeFileSync(
      file,
      JSON.stringify({
        pull_request: { number: 7, base: { sha: base }, head: { repo: { full_name: head } } },
      }),
    );
    return {
      GITHUB_ACTIONS: 'true',
      GITHUB_REPOSITORY: 'acme/tea',
      GITHUB_EVENT_PATH: file,
      GITHUB_SERVER_URL: 'https://github.example',
      GITHUB_RUN_ID: '99',
    };
  };

  test('is measured before against after, and has one comment, a summary and annotations, without a secret', async () => {
    await using forge = await startForge('github');
    const summary = join(project.root, 'summary.md');
    const env = { ...event('acme/tea'), GITHUB_API_URL: forge.api, GITHUB_STEP_SUMMARY: summary };
    const ran = await project.whetstone(['ci', 'run', '--trials', '2', '--jobs', '4'], {
      ...env,
      OPENAI_API_KEY: KEY,
    });
    expect(ran).toMatchObject({ exitCode: 0 });
    expect(ran.stdout).toMatch(/^::stop-commands::(\S+)\n::\1::\n/);
    const { manifest } = project.latest();
    expect(manifest.variants.map(({ name }) => name)).toEqual(['before', 'after']);

    const token = { ...env, GITHUB_TOKEN: 'token-of-the-job', OPENAI_API_KEY: KEY };
    const junit = join(project.root, 'junit.xml');
    for (const done of ['created', 'updated']) {
      const published = await project.whetstone(['ci', 'publish', '--junit', junit], token);
      expect(published).toMatchObject({ exitCode: 0, stderr: '' });
      expect(published.stdout).toContain(`Comment ${done}: https://github.example/c/1000`);
      expect(published.stdout).toMatch(
        /^::notice file=\.claude\/skills\/tea,title=Whetstone%3A better::reader: after: /m,
      );
    }
    expect(forge.comments).toHaveLength(1);
    const body = forge.comments[0]?.body ?? '';
    expect(body).toMatch(/^<!-- whetstone /);
    expect(body).toContain('### Whetstone: better');
    expect(body).toContain('| **better** | +100 pp |');
    expect(body).toContain('4 tasks with another pass rate');
    expect(body).toContain('[Job](https://github.example/acme/tea/actions/runs/99)');
    expect(readFileSync(summary, 'utf8')).toContain('### Whetstone: better');
    expect(readFileSync(junit, 'utf8')).toContain('<testsuite name="reader.after"');
    for (const text of [body, readFileSync(summary, 'utf8'), ran.stdout]) {
      expect(text).not.toContain(KEY);
      expect(text).not.toContain('token-of-the-job');
    }
  });

  test('on GitLab has a note', async () => {
    await using forge = await startForge('gitlab');
    const env = {
      GITLAB_CI: 'true',
      CI_API_V4_URL: forge.api,
      CI_PROJECT_ID: '42',
      CI_MERGE_REQUEST_PROJECT_ID: '42',
      CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '42',
      CI_MERGE_REQUEST_IID: '7',
      CI_JOB_URL: 'https://gitlab.example/job/1',
    };
    const published = await project.whetstone(['ci', 'publish', '--json'], {
      ...env,
      WHETSTONE_GITLAB_TOKEN: 'token-of-the-job',
    });
    expect(JSON.parse(published.stdout)).toEqual({ comment: { done: 'created', url: null } });
    expect(forge.comments[0]?.body).toContain('(https://gitlab.example/job/1/artifacts/browse)');
    const without = await project.whetstone(['ci', 'publish'], env);
    expect(without).toMatchObject({ exitCode: 2 });
    expect(without.stderr).toContain('WHETSTONE_GITLAB_TOKEN is not set');
  });

  test('of a fork is not measured where a key is missing, and no comment is a failure of its job', async () => {
    project.writeConfig({ agents: { loop: { kind: 'loop', profile: 'openai' } } });
    const env = event('mallory/tea');
    const runs = project.runDirectories();
    const ran = await project.whetstone(['ci', 'run', '--base', base], env);
    expect(ran).toMatchObject({ exitCode: 0 });
    expect(ran.stdout).toContain('comes from a fork, whose jobs get no secrets');
    expect(project.runDirectories()).toEqual(runs);
    await using forge = await startForge('github', {
      refusals: { POST: [{ status: 403, body: { message: 'Resource not accessible by integration' } }] },
    });
    const published = await project.whetstone(['ci', 'publish'], {
      ...env,
      GITHUB_API_URL: forge.api,
      GITHUB_TOKEN: 'token-of-the-job',
    });
    expect(published).toMatchObject({ exitCode: 0 });
    expect(published.stdout).toContain('::notice title=Whetstone::This pull request comes from a fork');
    expect(published.stderr).toContain('the job of a fork has no token that may write');
    project.writeConfig({ evaluation: { commands: ['grep -q good done.txt'] } });
  });

  test('of somebody else does not steer agents that are not sealed', async () => {
    const refused = await project.whetstone(['ci', 'run', '--base', base, '--head', 'HEAD']);
    expect(refused).toMatchObject({ exitCode: 2 });
    expect(refused.stderr).toContain('ci-unsealed');
    const unnamed = await project.whetstone(['ci', 'run', '--head', 'HEAD']);
    expect(unnamed.stderr).toContain('ci-base-missing');
  });

  test('that only makes things worse fails the job, unless it is told not to', async () => {
    const good = runGit(project.repo, ['rev-parse', 'HEAD']).trim();
    const nothing = await project.whetstone(['ci', 'run', '--base', good, '--head', base, '--json']);
    // The merge base of both is the older one.
    expect(JSON.parse(nothing.stdout).not_run).toContain('No instruction file and no skill differs');
    write('AGENTS.md', 'Be brief.\n');
    commit('worse');
    const options = ['--base', good, '--trials', '2', '--jobs', '4', '--json'];
    const worse = await project.whetstone(['ci', 'run', ...options]);
    expect(worse).toMatchObject({ exitCode: 1 });
    expect(JSON.parse(worse.stdout).runs[0].comparisons[0].comparison.verdict).toBe('worse');
    expect(await project.whetstone(['ci', 'run', ...options, '--fail-on', 'never'])).toMatchObject({
      exitCode: 0,
    });
  });
});

describe('ci github', () => {
  test('writes a workflow that starts for what agents read, and overwrites nothing', async () => {
    using project = makeProject();
    project.writeConfig({ output_dir: undefined });
    const config = join(project.repo, 'whetstone.yaml');
    writeFileSync(config, readFileSync(join(project.root, 'whetstone.yaml')));
    writeFileSync(join(project.repo, 'tasks.yaml'), readFileSync(join(project.root, 'tasks.yaml')));
    const first = await project.whetstone(['ci', 'github', '-c', config, '--budget', '5']);
    expect(first).toMatchObject({ exitCode: 0 });
    const file = join(project.repo, '.github/workflows/whetstone.yaml');
    const { on, permissions, jobs } = parse(readFileSync(file, 'utf8'));
    expect(on.pull_request.paths).toEqual(
      expect.arrayContaining(['**/AGENTS.md', '**/CLAUDE.md', '**/SKILL.md', 'whetstone.yaml']),
    );
    expect(on).not.toHaveProperty('pull_request_target');
    expect(permissions).toEqual({});
    expect(jobs.measure.permissions).toEqual({ contents: 'read', 'pull-requests': 'write' });
    expect(JSON.stringify(jobs)).toContain(
      'whetstone ci run -c whetstone.yaml --trials 3 --jobs 2 --budget 5',
    );
    const again = await project.whetstone(['ci', 'github', '-c', config]);
    expect(again).toMatchObject({ exitCode: 2 });
    expect(again.stderr).toContain('file-exists');
    expect(await project.whetstone(['ci', 'github', '-c', config, '--force', '--json'])).toMatchObject({
      exitCode: 0,
    });

    expect(await project.whetstone(['ci', 'gitlab', '-c', config])).toMatchObject({ exitCode: 0 });
    const pipeline = parse(readFileSync(join(project.repo, '.gitlab/whetstone.yml'), 'utf8'));
    expect(pipeline.whetstone.rules[0].changes.paths).toContain('**/skills/**/*');
    expect(pipeline.whetstone.artifacts.reports.junit).toBe('whetstone-junit.xml');
  });

  test('publish without a job, and wrong words, are usage errors', async () => {
    using project = makeProject();
    const nothing = await project.whetstone(['ci', 'publish']);
    expect(nothing).toMatchObject({ exitCode: 2 });
    expect(nothing.stderr).toContain('ci-nothing-measured');
    expect(await project.whetstone(['ci', 'run', '--fail-on', 'sadness'])).toMatchObject({ exitCode: 2 });
    expect((await project.whetstone(['ci', 'run', '--base', 'no-such-ref'])).stderr).toContain(
      'repo-ref-unknown',
    );
    expect(existsSync(project.runs)).toBe(false);
  });
});
