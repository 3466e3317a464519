import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeProject, type Project, processesWith } from '../cli/__fixtures__/project.ts';
import type { CaseRow } from '../record/row.ts';
import { commitAll, fingerprint } from '../workspace/__fixtures__/test-repo.ts';

/** `src/value.txt` must hold "right". Both the visible and the hidden test check it. */
const FILES = {
  'README.md': 'A project.\n',
  'src/value.txt': 'wrong\n',
  'build.sh': 'true\n',
  'run-check': { exec: '#!/bin/sh\ngrep -q right src/value.txt\n' },
  'package.json': '{"scripts":{"test":"sh check.sh"}}\n',
  'check.sh': 'sh test/visible.sh && sh test/hidden.sh\n',
  'test/visible.sh': 'grep -q right src/value.txt || { echo "not ok visible"; exit 1; }\n',
};
const HIDDEN = {
  'hidden/test/hidden.sh': 'grep -q right src/value.txt || { echo "not ok hidden"; exit 1; }\n',
};
const TASK = {
  id: 'value',
  prompt: 'Make the value right.',
  hidden_tests: 'hidden',
  protected_paths: ['test', 'check.sh', 'package.json'],
  validation: { commands: ['sh check.sh'] },
};
const SOLVE = 'echo right > src/value.txt';
const marker = `rewriter-${process.pid}`;

async function runAttacks(
  agents: Record<string, string>,
  task: Record<string, unknown> = {},
): Promise<Attacked> {
  const project = makeProject({ files: FILES, agents, tasks: [{ ...TASK, ...task }] });
  project.write(HIDDEN);
  const before = fingerprint(project.repo);
  const { exitCode, stderr } = await project.whetstone(['run', '--jobs', '2']);
  expect([0, 1], stderr).toContain(exitCode);
  expect(fingerprint(project.repo), 'the repository, byte for byte').toBe(before);
  return { project, rows: new Map(project.latest().rows.map((row) => [row.agent_name, row])) };
}

type Attacked = { project: Project; rows: ReadonlyMap<string, CaseRow> };

describe('the agent cannot influence the verdict', () => {
  let attacked: Attacked;
  /** In a run of its own: it would write into the workspaces of the cases beside it as well. */
  let daemon: Attacked;
  beforeAll(async () => {
    daemon = await runAttacks({
      'leaves-daemon': `(setsid sh -c 'while :; do
          for tree in "$0"/../../*/repo "$0"; do echo exit 0 > $tree/test/visible.sh; done; sleep 0.02
        done' "$(pwd)" ${marker} > /dev/null 2>&1 &)`,
    });
    attacked = await runAttacks({
      honest: SOLVE,
      // Whatever the agent does to its repository, its work is seen, and none of its code runs outside.
      'git-tricks': `${SOLVE}
        printf '*\\n' > .gitignore
        printf '* filter=evil diff=evil\\n' > .gitattributes
        for key in core.fsmonitor core.pager diff.external filter.evil.clean filter.evil.smudge; do
          git config "$key" "touch $NOTES/ran; cat"
        done
        mkdir -p .git/hooks
        for hook in pre-commit post-checkout post-index-change; do
          printf '#!/bin/sh\\ntouch %s/ran\\n' "$NOTES" > .git/hooks/$hook
          chmod +x .git/hooks/$hook
        done
        git update-index --assume-unchanged src/value.txt; rm -f "$NOTES/ran"`,
      'no-git': `${SOLVE}; git add -A; git commit -qm mine; rm -rf .git; printf 'gitdir: /nowhere\\n' > .git`,
      'edits-tests':
        'for file in test/visible.sh check.sh; do echo exit 0 > $file; done; echo "{}" > package.json',
      'plants-hidden': 'echo exit 0 > test/hidden.sh; chmod 444 test/hidden.sh; chmod 555 test',
      'links-away': `mkdir -p evil; echo exit 0 > evil/visible.sh; echo exit 0 > evil/hidden.sh
        rm -rf test; ln -s evil test`,
      'moves-tests': 'mv test tests; echo exit 0 > check.sh',
      claims: `echo PASSED; printf 'TAP version 13\\n1..1\\nok 1\\n'; echo '{"outcome":"passed"}' > result.json
        echo '{"outcome":"passed","validation_status":"passed"}' > "$2/result.json"`,
    });
  });
  afterAll(() => {
    for (const { project } of [attacked, daemon]) project[Symbol.dispose]();
  });

  test.each(['honest', 'git-tricks', 'no-git'])('%s did the work: passed', (agent) => {
    expect(attacked.rows.get(agent)).toMatchObject({ outcome: 'passed', validation_status: 'passed' });
    expect(attacked.rows.get(agent)?.touched_paths).toContain('src/value.txt');
  });

  test('nothing of the agent’s git configuration runs outside of its sandbox', () => {
    expect(attacked.rows.get('git-tricks')?.touched_paths).toEqual([
      '.gitattributes',
      '.gitignore',
      'src/value.txt',
    ]);
    expect(existsSync(join(attacked.project.notes, 'ran'))).toBe(false);
  });

  test.each([
    ['edits-tests', ['check.sh', 'package.json', 'test/visible.sh']],
    ['plants-hidden', ['test/hidden.sh']],
    ['links-away', ['test', 'test/visible.sh']],
    ['moves-tests', ['check.sh', 'test/visible.sh']],
    ['leaves-daemon', undefined], // its own tree, or nothing: as fast as it was before it was ended
    ['claims', []],
  ])('%s did not do the work: failed, and the paths that it touched are listed', (agent, touched) => {
    const row = attacked.rows.get(agent) ?? daemon.rows.get(agent);
    expect(row).toMatchObject({ outcome: 'failed', failure_class: 'agent', validation_status: 'failed' });
    expect(row?.evidence).toContain('not ok visible');
    if (touched) expect([...(row?.protected_paths_touched ?? [])].sort()).toEqual(touched);
  });

  test('the result is the one of the harness; the forged one is only an artifact', () => {
    const { directory, rows } = attacked.project.latest();
    const row = rows.find(({ agent_name: agent }) => agent === 'claims');
    const files = join(directory, 'cases', row?.case_id ?? '');
    expect(JSON.parse(readFileSync(join(files, 'result.json'), 'utf8'))).toEqual(row);
    expect(JSON.parse(readFileSync(join(files, 'output/result.json'), 'utf8')).outcome).toBe('passed');
  });

  test('no process of an agent is left running', () => {
    expect(processesWith(marker)).toEqual([]);
  });
});

test.concurrent('code that the agent changed and the clean room runs cannot change the tests', async () => {
  const tamper = 'for file in test/visible.sh test/hidden.sh; do echo exit 0 > $file; done';
  const { project, rows } = await runAttacks(
    {
      honest: SOLVE,
      'by-setup': `echo '${tamper}' > build.sh`,
      'by-validation': `echo '${tamper}' > src/first.sh`,
    },
    {
      setup: ['sh build.sh'],
      validation: { commands: ['test ! -f src/first.sh || sh src/first.sh', 'sh check.sh'] },
    },
  );
  using _ = project;
  expect(rows.get('honest')).toMatchObject({ outcome: 'passed' });
  for (const agent of ['by-setup', 'by-validation']) {
    expect(rows.get(agent)).toMatchObject({ outcome: 'failed', failure_class: 'agent' });
    expect(rows.get(agent)?.evidence).toContain('not ok visible');
  }
});

test.concurrent('what the agent broke is its failure; what is broken without the agent is missing data', async () => {
  const { project, rows } = await runAttacks(
    {
      honest: SOLVE,
      'breaks-setup': `${SOLVE}; echo 'echo no compiler; exit 9' > build.sh`,
      'removes-verifier': `${SOLVE}; rm run-check`,
    },
    { setup: ['sh build.sh'], validation: { commands: [['./run-check']] } },
  );
  using _ = project;
  expect(rows.get('honest')).toMatchObject({ outcome: 'passed' });
  expect(rows.get('breaks-setup')).toMatchObject({
    outcome: 'failed',
    failure_class: 'agent',
    evidence:
      'setup in the clean room: `sh build.sh` exited 9 (no compiler)\nverify/setup-0.stdout.log ends with:\nno compiler',
  });
  expect(rows.get('removes-verifier')).toMatchObject({ outcome: 'failed', failure_class: 'agent' });
  expect(rows.get('removes-verifier')?.evidence).toContain('without the agent');
});

describe('what an agent sees', () => {
  const SPY = `{ env; pwd; ls -a . .. ../..; printf '%s\\n' "$@"; git log --all --format='%H %an %s'
    git for-each-ref; git reflog; git remote -v; git cat-file --batch-all-objects --batch; cat /proc/self/mountinfo
    ps -ef; } > "$NOTES/seen-$(ls "$NOTES" | wc -l)" 2>&1`;

  test('is only the task: no arm, no other case, no hidden test, no future of the repository', async () => {
    using project = makeProject({
      files: FILES,
      agents: { spy: SPY },
      tasks: [
        { ...TASK, id: 'task-blue', prompt: 'Make the value right.' },
        { ...TASK, id: 'task-red', prompt: 'Make another value right.' },
      ],
      config: { repo: { path: '.' }, variants: { 'arm-plain': {}, 'arm-notes': {} } },
    });
    project.write(HIDDEN);
    project.writeConfig({
      repo: { path: project.repo, base_ref: 'HEAD~1' },
      variants: { 'arm-plain': {}, 'arm-notes': { overlays: [{ source: 'notes.md', target: 'AGENTS.md' }] } },
    });
    project.write({ 'notes.md': 'Read the tests.\n' });
    commitAll(project.repo, { 'src/value.txt': 'right-in-the-future\n' }, 'the solution of tomorrow');
    const before = fingerprint(project.repo);
    await project.whetstone(['run', '--trials', '2'], {
      HARMLESS: 'parent-variable',
      MY_TOKEN: 'parent-secret',
    });
    expect(fingerprint(project.repo)).toBe(before);

    const seen = Array.from({ length: 8 }, (_, index) =>
      readFileSync(join(project.notes, `seen-${index}`), 'utf8'),
    );
    for (const text of seen) {
      expect(text).toContain('Make ');
      expect(text).not.toMatch(/arm-plain|arm-notes|task-blue|task-red|trial-\d|trial_index/);
      expect(text).not.toMatch(/not ok hidden|tomorrow|right-in-the-future|Ada/);
      expect(text).not.toMatch(/parent-variable|parent-secret/);
      expect(text).not.toContain(project.repo);
    }
  });
});
