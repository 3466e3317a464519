import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { makeProject, type Project, type ProjectOptions } from './__fixtures__/project.ts';

let project: Project;
const cache = mkdtempSync(join(tmpdir(), 'environment-test-'));
afterEach(() => project?.[Symbol.dispose]());
afterAll(() => rmSync(cache, { recursive: true, force: true }));

const CACHE = { XDG_CACHE_HOME: cache };
const store = join(cache, 'whetstone/environments');
const layers = () => readdirSync(store).filter((name) => /^[0-9a-f]{64}$/.test(name));

/** A stand-in for a package manager: it installs a program, prints where it ran, and leaves a file in HOME. */
const INSTALL = [
  'mkdir -p node_modules/.bin && cp lock.txt node_modules/installed',
  `printf '#!/bin/sh\\necho checked in %s\\n' "$PWD" > node_modules/.bin/check`,
  'chmod +x node_modules/.bin/check; mkdir -p ~/.cache/tool; pwd > ~/.cache/tool/from; ls -A > seen',
];

/** A server of one client after the other, which starts in a fraction of the CPU that Node takes. `perl` serves `$client`. */
const serveEach = (perl: string): string =>
  `exec perl -MIO::Socket::INET -e '$server = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => {port}, Listen => 9) or die $@; while ($client = $server->accept) { ${perl}; close $client }'`;

const inProject = (environment: Record<string, unknown>, rest: ProjectOptions = {}) =>
  makeProject({
    files: { 'lock.txt': 'a 1.0\n', 'src/a.txt': 'source\n', '.gitignore': 'node_modules\n' },
    tasks: [{ id: 'one', prompt: 'x' }],
    ...rest,
    config: {
      environment: { prepare: INSTALL, inputs: ['lock.txt'], ...environment },
      evaluation: { commands: ['node_modules/.bin/check', 'cat ~/.cache/tool/from'] },
      ...rest.config,
    },
  });

test('an environment is prepared once, everyone has it as it was at the same path, and it can be removed', async () => {
  project = inProject(
    {},
    {
      tasks: [
        { id: 'one', prompt: 'x' },
        { id: 'two', prompt: 'x' },
      ],
      agents: {
        vandal: [
          'node_modules/.bin/check; cat ~/.cache/tool/from; git status --porcelain; pwd',
          'echo "exit 0" > node_modules/.bin/check; rm ~/.cache/tool/from; echo new > node_modules/new',
          'echo work >> src/a.txt',
        ].join('\n'),
      },
    },
  );
  const preview = async () =>
    JSON.parse((await project.whetstone(['run', '--dry-run', '--json'], CACHE)).stdout).environment;
  const nothing = { stored: 0, stored_bytes: 0, missing: 0, unknown: 0, without_inputs: 0, whole_tree: null };
  expect(await preview()).toEqual({ ...nothing, commands: INSTALL, missing: 1 });
  const ran = await project.whetstone(['run', '--jobs', '2'], CACHE);
  expect(ran).toMatchObject({ exitCode: 0 });
  const { rows, directory } = project.latest();
  expect(rows).toMatchObject([
    { outcome: 'passed', touched_paths: ['src/a.txt'] },
    { outcome: 'passed', touched_paths: ['src/a.txt'] },
  ]);
  expect(rows[0]?.environment?.changed_paths).toEqual(['node_modules/.bin/check', 'node_modules/new']);
  const read = (path: string) => readFileSync(join(directory, 'cases', rows[0]?.case_id ?? '', path), 'utf8');
  const [first = '', second = ''] = read('stdout.log').split('\n');
  expect(first).toBe(`checked in ${second}`);
  // The commands saw the inputs only, and what they left is not shown as a change.
  expect(read('stdout.log')).toBe(`${first}\n${second}\n${second}\n`);
  expect(read('verify/validation-0.stdout.log')).toBe(`${first}\n`);
  expect(read('verify/validation-1.stdout.log')).toBe(`${second}\n`);
  const [key = ''] = layers();
  expect(layers()).toHaveLength(1);
  expect(readFileSync(join(store, key, 'repo/seen'), 'utf8')).toBe('.git\nlock.txt\nnode_modules\nseen\n');
  expect(readdirSync(join(directory, 'environments'))).toEqual([key.slice(0, 12)]);

  // Another run uses it.
  await project.whetstone(['run', '--task-id', 'one'], CACHE);
  expect(existsSync(join(project.latest().directory, 'environments'))).toBe(false);
  expect(layers()).toEqual([key]);

  expect(await preview()).toMatchObject({ stored: 1, missing: 0, unknown: 0 });
  project.writeConfig({
    environment: { prepare: ['true'], inputs: ['lock.txt'] },
    variants: {
      baseline: {},
      other: { overlays: [{ source: 'tasks.yaml', target: 'lock.txt' }] },
      none: { overlays: [{ remove: ['lock.txt'] }] },
    },
  });
  const { stdout } = await project.whetstone(['run', '--dry-run'], CACHE);
  expect(stdout).toContain(
    'Prepare     true: 1 environment to make; 1 not known before the run, because an overlay writes an input; none for 1 commit without a file of `environment.inputs`\n',
  );

  const environments = (...args: string[]) => project.whetstone(['environments', ...args], CACHE);
  const [layer] = JSON.parse((await environments('list', '--json')).stdout);
  expect(layer).toMatchObject({ key, files: 5, at: '/w/case', commands: INSTALL, restored_inputs: [] });
  const [, line = ''] = (await environments('list')).stdout.split('\n');
  expect(line).toMatch(new RegExp(`^${key.slice(0, 12)} +1 MB +5 +\\d{4}-.* mkdir -p node_modules`));
  expect(await environments('clear', 'nope')).toMatchObject({ exitCode: 2 });
  expect(await environments('clear', '')).toMatchObject({
    ...{ exitCode: 2, stderr: expect.stringContaining('"" is not the beginning of a key') },
  });
  const cleared = await environments('clear', key.slice(0, 8));
  expect(cleared).toMatchObject({ exitCode: 0, stdout: 'Removed 1 environment, 1 MB.\n' });
  expect((await environments('list')).stdout).toMatch(/^No environment is prepared\./);
});

/** What npm prints last is not what went wrong. */
const NPM_SAYS = `printf 'npm error %s\\n' 'code E404' '404 no such package' 'A complete log of this run is in: x'`;

test('a preparation that fails is an error of each case, with its log and without its secrets', async () => {
  project = inProject(
    {
      prepare: [`echo fetching with $TEAM_TOKEN; ${NPM_SAYS} >&2; echo once >> "$COUNT"; exit 4`],
      env: { TEAM_TOKEN: `\${TEAM_TOKEN}`, COUNT: `\${COUNT}` },
    },
    { config: {} },
  );
  const count = join(project.root, 'count');
  const { exitCode } = await project.whetstone(['run', '--trials', '2'], {
    ...CACHE,
    ...{ TEAM_TOKEN: 'token-of-the-team-4711', COUNT: count },
  });
  expect(exitCode).toBe(1);
  const { rows, directory } = project.latest();
  expect(rows).toMatchObject([1, 2].map(() => ({ outcome: 'error', failure_class: 'task', retries: 0 })));
  expect(rows[0]?.evidence).toMatch(
    /^environments\/[0-9a-f]{12}: prepare: `echo fetching .*` exited 4 \(npm error 404 no such package\)/,
  );
  expect(rows[0]?.evidence).toContain('The commands see only the files of `environment.inputs`.');
  expect(readFileSync(count, 'utf8')).toBe('once\n');
  const [name = ''] = readdirSync(join(directory, 'environments'));
  const log = readFileSync(join(directory, 'environments', name, 'prepare-0.stdout.log'), 'utf8');
  expect(log).toBe('fetching with [masked]\n');
});

test('services run beside the agent and in the clean room, and write nothing into the workspace', async () => {
  const ask = `bash -c 'cat < /dev/tcp/$ECHO_HOST/$ECHO_PORT'`;
  project = inProject(
    {
      prepare: undefined,
      inputs: undefined,
      services: { echo: { command: `echo started > dump; ${serveEach('print $client "pong"')}` } },
    },
    { agents: { asker: ask }, config: { evaluation: { commands: [`test "$(${ask})" = pong`] } } },
  );
  const { exitCode } = await project.whetstone(['run'], CACHE);
  const { rows, directory } = project.latest();
  expect(rows).toMatchObject([{ outcome: 'passed', evidence: null, changed_files: 0 }]);
  expect(exitCode).toBe(0);
  const folder = join(directory, 'cases', rows[0]?.case_id ?? '');
  expect(readFileSync(join(folder, 'stdout.log'), 'utf8')).toBe('pong');

  project.writeConfig({
    environment: { services: { echo: { command: 'echo no data directory >&2; exit 7' } } },
  });
  expect(await project.whetstone(['run'], CACHE)).toMatchObject({ exitCode: 1 });
  const { rows: failed } = project.latest();
  expect(failed).toMatchObject([{ outcome: 'error', failure_class: 'task' }]);
  expect(failed[0]?.evidence).toContain(
    'The service echo ended with exit code 7 (no data directory) before it was ready; its logs are services/echo.stdout.log and services/echo.stderr.log.',
  );
  const { stdout } = await project.whetstone(['show', 'latest', failed[0]?.case_id ?? ''], CACHE);
  expect(stdout).toMatch(/^Files\n {2}\S+\/services\/echo\.stderr\.log\n {2}\S+\/result\.json$/m);
});

test('a service that an agent ends, or keeps from starting, excuses nothing; one that always ends is an error', async () => {
  // Only where the client sends something: the harness connects as well, to see whether the service is ready.
  const serve = serveEach('if (read $client, my $data, 1) { print STDERR "Error: disk is full\\n"; exit 3 }');
  // Until the port is closed: a process that exits closes its connection and its port one after the other.
  const say = 'while exec 3<> /dev/tcp/$DB_HOST/$DB_PORT; do echo x >&3; cat <&3; done';
  const end = `bash -c 'trap "" PIPE; (${say}); true' 2> /dev/null`;
  const command = `test ! -e "$(cat ~/tree)/src/block" && ${serve}`;
  project = inProject(
    { prepare: ['pwd > ~/tree'], services: { db: { command } } },
    {
      agents: {
        failing: `${end}; exit 1`,
        planting: 'touch src/end',
        blocking: 'touch src/block',
        enduring: end,
      },
      tasks: [
        { id: 'sound', prompt: 'x' },
        { id: 'faulty', prompt: 'x', validation: { commands: [end] } },
      ],
      config: { evaluation: { commands: [`test ! -e src/end || ${end}`] } },
    },
  );
  await project.whetstone(['run', '--jobs', '3'], CACHE);
  const { rows } = project.latest();
  const ended = 'The service db ended with exit code 3 (Error: disk is full) after it was ready';
  const ofTask = (id: string) =>
    Object.fromEntries(rows.flatMap((row) => (row.task_id === id ? [[row.agent_name, row]] : [])));
  const failed = { outcome: 'failed', failure_class: 'agent' };
  const sound = ofTask('sound');
  expect(sound).toMatchObject({
    failing: { ...failed, service_ended: expect.stringContaining(ended) },
    planting: { ...failed, validation_status: 'passed' },
    blocking: { ...failed, validation_status: 'failed' },
    enduring: { outcome: 'passed', evidence: null, service_ended: expect.stringContaining(ended) },
  });
  expect(sound.failing?.evidence).toContain(`code 1; beside the agent: ${ended}`);
  const onlyThen = `this does not happen without the agent's changes`;
  expect(sound.planting?.evidence).toContain('; its logs are verify/services/db.stdout.log and ');
  expect(sound.planting?.evidence).toMatch(new RegExp(`${ended.replace(/[()]/g, '.')}.*${onlyThen}`));
  expect(sound.blocking?.evidence).toMatch(new RegExp(`before it was ready.*${onlyThen}`));
  const broken = { outcome: 'error', failure_class: 'task', evidence: expect.stringContaining(ended) };
  const faulty = ofTask('faulty');
  expect(faulty).toMatchObject({ planting: broken, enduring: broken });
  const { stdout } = await project.whetstone(['report', 'latest']);
  expect(stdout.replace(/\s+/g, ' ')).toContain('Beside the agent, a service ended in');
});
