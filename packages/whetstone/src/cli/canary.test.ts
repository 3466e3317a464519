import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { makeProject, type Project } from './__fixtures__/project.ts';

const tasks = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'].map((id) => ({
  id,
  prompt: `Do ${id}.`,
}));

/** Does its work, except where `$NOTES/mood` says what goes wrong tonight: nothing at all, or the provider. */
const AGENT = `case "$(cat $NOTES/mood 2>/dev/null)" in
  lazy) true ;;
  *) echo done >> README.md ;;
esac`;

describe('a canary', () => {
  let project: Project;
  const night = (...options: string[]) =>
    project.whetstone(['canary', 'run', '--jobs', '4', '--json', ...options]);
  const mood = (text: string) => writeFileSync(join(project.notes, 'mood'), text);
  beforeAll(() => {
    project = makeProject({
      agents: { amy: AGENT },
      tasks,
      config: { evaluation: { commands: ['grep done README.md'] } },
    });
  });
  afterAll(() => project[Symbol.dispose]());

  test('has a baseline, quiet nights, and an alarm once the agent gets worse, which stays', async () => {
    const without = await project.whetstone(['canary', 'run']);
    expect(without).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('canary-not-started') });
    expect(project.runDirectories()).toEqual([]);

    const started = await project.whetstone(['canary', 'start', '--trials', '3', '--jobs', '4']);
    expect(started).toMatchObject({ exitCode: 0 });
    expect(started.stdout).toContain('amy: too early to tell, after 0 nights and the baseline');
    expect(started.stdout).toContain('The baseline: 100 % (24 cases).');
    expect(started.stdout.replaceAll(/\s+/g, ' ')).toMatch(/one of 20 pp in about \d+ nights/);
    expect(started.stdout).toContain('at most one false alarm in 200 nights');
    expect(project.latest().rows).toHaveLength(24);
    const twice = await project.whetstone(['canary', 'start']);
    expect(twice).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('canary-exists') });

    const quiet = await night();
    expect(quiet).toMatchObject({ exitCode: 0 });
    const {
      agents: [calm],
    } = JSON.parse(quiet.stdout);
    expect(calm).toMatchObject({ nights: 1, drift: null, tonight: { passed: 8, trials: 8, planned: 8 } });

    mood('lazy');
    const summary = join(project.root, 'summary.md');
    const codes: (number | null)[] = [];
    let last = '';
    for (let nights = 0; nights < 4 && codes.at(-1) !== 1; nights += 1) {
      const ran = await project.whetstone(['canary', 'run', '--jobs', '4', '--json'], {
        GITHUB_ACTIONS: 'true',
        GITHUB_STEP_SUMMARY: summary,
      });
      codes.push(ran.exitCode);
      last = ran.stdout;
      if (ran.exitCode === 1) expect(ran.stderr).toContain('::error title=Whetstone canary::amy: drift');
    }
    expect(codes.at(-1)).toBe(1);
    const report = JSON.parse(last.slice(last.indexOf('{')));
    expect(report).toMatchObject({ verdict: 'drift', nights_per_false_alarm: 200 });
    const { drift } = report.agents[0];
    expect(drift).toMatchObject({
      ...{ direction: 'worse', since: { night: 2 }, noticed: { night: codes.length + 1 } },
      ...{ before: { value: 1, passed: 32, trials: 32 }, after: { value: 0, passed: 0 }, difference: -1 },
    });
    expect(drift.tasks).toHaveLength(8);
    expect(readFileSync(summary, 'utf8')).toContain('drift, worse since night 2');

    mood('');
    const status = await project.whetstone(['canary', 'status']);
    expect(status).toMatchObject({ exitCode: 1 });
    expect(status.stdout.replaceAll(/\s+/g, ' ')).toContain('whetstone canary start --force');
  });

  test('counts no night without results, and does not mix two agents or a damaged file', async () => {
    const [baseline = ''] = project.runDirectories();
    const again = ['canary', 'start', '--force', '--from', baseline, '--json'];
    expect(JSON.parse((await project.whetstone(again)).stdout)).toMatchObject({ night: { night: 0 } });

    project.writeConfig({
      evaluation: { commands: ['grep done README.md'] },
      environment: { prepare: ['false'] },
    });
    const failed = await night();
    expect(failed).toMatchObject({ exitCode: 4 });
    expect(JSON.parse(failed.stdout)).toMatchObject({
      verdict: 'unmeasured',
      agents: [{ nights: 0, evidence: 0, tonight: { value: null, trials: 0, planned: 8 } }],
    });
    project.writeConfig({ evaluation: { commands: ['grep done README.md'] } });

    const file = join(project.runs, 'canary.json');
    const series = readFileSync(file, 'utf8');
    const runs = project.runDirectories().length;
    writeFileSync(file, series.replace(/"fingerprint":"/g, '"fingerprint":"0'));
    const other = await night();
    expect(other).toMatchObject({ exitCode: 2 });
    expect(JSON.parse(other.stdout).error).toMatchObject({
      code: 'canary-changed',
      message: expect.stringContaining('agent amy'),
    });
    writeFileSync(file, '{');
    expect((await night()).stdout).toContain('canary-unreadable');
    expect(project.runDirectories()).toHaveLength(runs);
  });
});

test('ci canary writes a workflow that never makes a baseline by itself', async () => {
  using project = makeProject();
  project.writeConfig({ output_dir: undefined });
  const config = join(project.repo, 'whetstone.yaml');
  writeFileSync(config, readFileSync(join(project.root, 'whetstone.yaml')));
  writeFileSync(join(project.repo, 'tasks.yaml'), readFileSync(join(project.root, 'tasks.yaml')));
  const written = await project.whetstone(['ci', 'canary', '-c', config, '--budget', '5']);
  expect(written).toMatchObject({ exitCode: 0 });
  const { on, permissions, jobs } = parse(
    readFileSync(join(project.repo, '.github/workflows/whetstone-canary.yaml'), 'utf8'),
  );
  expect(on.schedule).toHaveLength(1);
  expect(permissions).toEqual({});
  expect(jobs.night.permissions).toEqual({ contents: 'read' });
  const steps: { run?: string; if?: string; with?: { path?: string } }[] = jobs.night.steps;
  const starts = steps.filter(({ run }) => run?.includes('canary start'));
  expect(starts).toMatchObject([{ if: 'inputs.start' }]);
  expect(starts[0]?.run).toContain('--force -c whetstone.yaml --trials 5 --jobs 2 --budget 5');
  expect(steps.find(({ run }) => run?.includes('canary run'))?.run).toContain('--trials 1 --jobs 2');
  expect(steps.filter((step) => step.with?.path === '.whetstone/runs/canary.json')).toHaveLength(2);
});
