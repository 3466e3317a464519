import { type Benchmark, tableOf } from './benchmark.ts';
import { whereWeLose } from './compare-with-peers.ts';
import { CASES_A_TRIAL, makeMatrix, runMatrix, SMALLEST_AGENT } from './matrix.ts';
import { measurePromptfoo } from './promptfoo.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** The cost of the harness itself: many cases with an agent that does almost nothing. */
export const harnessOverhead: Benchmark = async ({ size, say }) => {
  const trials = size === 'quick' ? 1 : 10;
  const cases = trials * CASES_A_TRIAL;
  using folder = temporaryFolder();
  const work = folder.path;
  await makeMatrix(work, SMALLEST_AGENT);
  say(`${cases} cases, two at a time`);
  const whetstone = await runMatrix(work, ['--trials', String(trials), '--jobs', '2']);
  say(`promptfoo, ${cases} tests, two at a time`);
  const promptfoo = await measurePromptfoo({ directory: work, tests: cases, say });

  const uses = [{ subject: 'whetstone', use: whetstone }];
  if (promptfoo.kind === 'measured') {
    uses.push({ subject: `promptfoo ${promptfoo.version}`, use: promptfoo.use });
  }
  const table = tableOf(
    'Per case',
    uses,
    [
      ['own CPU', 's', 4, ({ use }) => use.cpuSeconds / cases],
      ['CPU of children', 's', 4, ({ use }) => use.childrenCpuSeconds / cases],
      ['wall', 's', 3, ({ use }) => use.wallSeconds / cases],
    ],
    [
      { subject: 'context-eval', values: [0.05, undefined, '0.10–0.21'] },
      { subject: 'niceeval, 200 cases', values: [0.9] },
    ],
  );
  return {
    method: `${cases} cases (1 agent × 10 tasks × 2 variants × ${trials} trials) on a repository of 200 files, \`--jobs 2\`; the agent is \`sh -c '${SMALLEST_AGENT}'\`, the validation \`true\`. Start and end of the program are part of it.`,
    tables: [table],
    aims: [
      { what: 'own CPU per case', measured: whetstone.cpuSeconds / cases, below: 0.03, unit: 's', digits: 4 },
    ],
    notes: [
      'Own CPU is user and system time of the harness process (RUSAGE_SELF); children are git, mount, the sandbox, the agent and the validation.',
      promptfoo.kind === 'measured'
        ? 'promptfoo runs the same shell command with an `exec:` provider in a copy of the same folder that its script makes. It does less: no commit is checked out, nothing is contained, no patch is taken, and nothing is verified in a clean tree; its assertion reads what the script printed.'
        : `promptfoo was not measured: ${promptfoo.reason}`,
      'context-eval is not on npm and niceeval needs a Docker daemon and its image: neither was run. The figure of niceeval is for evaluations without work; of context-eval it is not known whether children are in it.',
      ...whereWeLose(table),
    ],
  };
};
