import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { makeProject, type Project } from './__fixtures__/project.ts';

let project: Project;
const notes = mkdtempSync(join(tmpdir(), 'setup-test-'));
afterEach(() => project[Symbol.dispose]());
afterAll(() => rmSync(notes, { recursive: true }));

const USER = {
  HTTPS_PROXY: 'http://me:proxy-password@proxy.example:8080',
  NODE_EXTRA_CA_CERTS: '/etc/team.pem',
  npm_config_registry: 'https://registry.example/',
  PIP_INDEX_URL: 'https://pip.example/simple',
  TEAM_TOKEN: 'token-of-the-team-4711',
};
const NAMES = [...Object.keys(USER), 'MODE'];
const print = (file: string) => `env | grep -E "^(${NAMES.join('|')})=" | sort > ${file} || true`;

test('setup gets proxies, certificates, registries and its own variables, and the agent gets none of them', async () => {
  project = makeProject({
    tasks: [
      {
        id: 'one',
        prompt: 'x',
        setup: [
          `${print(join(notes, 'setup'))}; cat ${join(notes, 'setup')}; echo the password is proxy-password`,
        ],
        setup_env: { MODE: 'fast', TEAM_TOKEN: `\${TEAM_TOKEN}` },
      },
    ],
    agents: { writer: `${print(join(notes, 'agent'))}; touch DONE` },
  });
  const ran = await project.whetstone(['run'], USER);
  expect(ran).toMatchObject({ exitCode: 0 });
  expect(readFileSync(join(notes, 'setup'), 'utf8').trim().split('\n')).toEqual(
    [...Object.entries(USER), ['MODE', 'fast']].map(([name, value]) => `${name}=${value}`).sort(),
  );
  expect(readFileSync(join(notes, 'agent'), 'utf8')).toBe('');
  const { directory, rows } = project.latest();
  const log = readFileSync(
    join(directory, 'cases', rows[0]?.case_id ?? '', 'setup/setup-0.stdout.log'),
    'utf8',
  );
  expect(log).toContain('MODE=fast');
  expect(log).not.toMatch(/proxy-password|token-of-the-team/);
});

test('setup that hangs is stopped, and its last lines are the evidence', async () => {
  project = makeProject({
    tasks: [
      {
        id: 'one',
        prompt: 'x',
        setup: ['echo getting it; echo "no route to host" >&2; sleep 600'],
        setup_timeout_seconds: 1,
      },
    ],
  });
  const { exitCode } = await project.whetstone(['run']);
  expect(exitCode).toBe(1);
  const { rows } = project.latest();
  const unread = { changed_files: null, insertions: null, deletions: null };
  expect(rows).toMatchObject([{ outcome: 'error', failure_class: 'task', agent_exit_code: null, ...unread }]);
  expect(rows[0]?.evidence).toMatch(/^setup: `echo getting it; .*` was stopped after \d+ s/);
  expect(rows[0]?.evidence).toMatch(/\nsetup\/setup-0\.stderr\.log ends with:\nno route to host$/);
  const shown = await project.whetstone(['show', 'latest', rows[0]?.case_id ?? '']);
  expect(shown.stdout.replaceAll(/\s+/g, ' ')).toContain(
    'setup/setup-0.stderr.log ends with: no route to host',
  );
  const log = join(project.latest().directory, 'cases', rows[0]?.case_id ?? '', 'setup/setup-0.stderr.log');
  expect(shown.stdout).toContain(`Files\n  ${log}\n`);
  expect(readFileSync(log, 'utf8')).toBe('no route to host\n');
});

test('a variable of setup that is not set stops the run before it costs anything', async () => {
  project = makeProject({
    tasks: [{ id: 'one', prompt: 'x', setup: ['true'], setup_env: { TOKEN: `\${NOT_SET_ANYWHERE}` } }],
  });
  const { exitCode, stderr } = await project.whetstone(['run']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(
    'The setup of task one needs NOT_SET_ANYWHERE, which your environment does not set.',
  );
});
