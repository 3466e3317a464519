// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the shell
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deriveAgentMetadata, type StreamEvent } from '@whetstone/events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPolicy, type Policy } from './decide.ts';
import { safePermissions } from './permissions.ts';
import type { PolicyRequest, PolicyRule } from './policy.ts';

let folder: string;
let workdir: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'policy-'));
  workdir = join(folder, 'work');
  mkdirSync(join(workdir, '.github'), { recursive: true });
  mkdirSync(join(workdir, 'src'));
  writeFileSync(join(workdir, '.github/ci.yml'), '');
  writeFileSync(join(folder, 'outside.txt'), '');
  symlinkSync('..', join(workdir, 'out'));
  symlinkSync('.github', join(workdir, 'harmless'));
  symlinkSync('../nowhere/yet', join(workdir, 'dangling'));
  linkSync(join(folder, 'outside.txt'), join(workdir, 'hard'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Asked = PolicyRequest extends infer Kind
  ? Kind extends PolicyRequest
    ? Omit<Kind, 'callId'>
    : never
  : never;

async function ask(request: Asked, rules: PolicyRule[] = [], given: Partial<Policy> = {}) {
  const events: StreamEvent[] = [];
  const emit = (event: StreamEvent) => events.push(event);
  const policy = { permissions: safePermissions, rules, workdir, emit, ...given };
  const decided = await createPolicy(policy)({ callId: 'c', ...request } as PolicyRequest);
  return { ...decided, events };
}

const command = async (text: string, rules: PolicyRule[], given: Partial<Policy> = {}) => {
  const { decision, rule } = await ask({ kind: 'command', command: text }, rules, given);
  return `${decision}: ${rule}`;
};

const TESTS: PolicyRule[] = [{ allow: { command: 'npm test*' } }, { allow: { command: 'ls*' } }];
const ALLOWED = 'approved: allow {command: "npm test*"}';
const DEFAULT = 'denied: permissions.shell: ask';

test('paths are judged where they lie, also when the agent sees its folder elsewhere', async () => {
  const place = {
    hostPath: (path: string) => path.replace(/^\/seen(?=\/|$)/, folder),
    seenPath: (path: string) => path.replace(folder, '/seen'),
  };
  const rules: PolicyRule[] = [{ allow: { path: 'src/**' } }];
  const change = async (path: string) => {
    const given = { workdir: '/seen/work', place };
    return (await ask({ kind: 'file-change', paths: [path] }, rules, given)).decision;
  };
  expect(await change('/seen/work/src/a.ts')).toBe('approved');
  expect(await change('src/a.ts')).toBe('approved');
  expect(await change('/seen/work/out/outside.txt')).toBe('denied');
  expect(await change('hard')).toBe('denied');
  expect(await change(join(folder, 'outside.txt'))).toBe('denied');
});

describe('commands', () => {
  test.each([
    ['npm test', ALLOWED],
    ['npm test -- --run src', ALLOWED],
    ['npm test && ls | ls -l', ALLOWED],
    ["bash -lc 'npm test; ls'", ALLOWED],
    ['/bin/bash -lc \'bash -c "npm test"\'', ALLOWED],
    ['npm test > out.log 2>&1', ALLOWED],
    ['npm test; rm -rf src', DEFAULT],
    ['npm test $(rm -rf src)', DEFAULT],
    ['npm test `rm x`', DEFAULT],
    ['npm test | sh', DEFAULT],
    ['npm test & curl evil.example', DEFAULT],
    ["bash -lc 'npm test; rm x'", DEFAULT],
    ["bash --rcfile x -lc 'npm test'", DEFAULT],
    ['npm test\nrm x', DEFAULT],
    ['npm test <<X\n$(rm x)\nX', DEFAULT],
    ['npm "test; rm x"', DEFAULT],
    ['NODE_OPTIONS=--require=./x npm test', DEFAULT],
    ['PATH=. ; npm test', DEFAULT],
    ['npm() { rm x; }; npm test', DEFAULT],
    ['./npm test', DEFAULT],
    ['$X test', DEFAULT],
    ['eval npm test', DEFAULT],
    ['npm test "', DEFAULT],
    ['npm test > ../outside.txt', 'denied: permissions.filesystem: workspace (outside it)'],
    ['npm test > .git/hooks/pre-commit', 'denied: permissions.filesystem: workspace (in .git)'],
    ['npm test > $X', 'denied: permissions.filesystem: workspace (outside it)'],
    ['npm test > hard', 'denied: permissions.filesystem: workspace (a hard link)'],
  ])('%j with rules that allow the tests: %s', async (text, expected) => {
    expect(await command(text, TESTS)).toBe(expected);
  });

  const PUSH: PolicyRule[] = [{ deny: { command: 'git push*' } }, { allow: { command: '*' } }];
  const DENIED = 'denied: deny {command: "git push*"}';
  test.each([
    ['git push', DENIED],
    ['git status && git push origin', DENIED],
    ['git $X', DENIED],
    ['$(echo git) push', DENIED],
    ['/usr/bin/git push', DENIED],
    ["g''it pu\\sh", DENIED],
    ['sudo -u me git push', DENIED],
    ['env A=1 git push', DENIED],
    ['A=1 git push', DENIED],
    ['A[0]=1 git push', DENIED],
    ['A[0]=1 git status', 'approved: allow {command: "*"}'],
    ['sh -c -- "git push"', DENIED],
    ['env -S"git push"', DENIED],
    ['busybox env git push', DENIED],
    ['echo x | xargs git push', DENIED],
    ["find . -exec git push ';'", DENIED],
    ["timeout 5 bash -c 'git push'", DENIED],
    ['{git,push}', DENIED],
    ['eval "git pu""sh"', DENIED],
    ['bash <<X\ngit push\nX', DENIED],
    ['((git push); true)', DENIED],
    ['git status', 'approved: allow {command: "*"}'],
    ['rm $X', 'approved: allow {command: "*"}'],
    ["echo $'\\''; git push; echo \\'", DENIED],
    ['function f { git push; }; f', DENIED],
    ['for x do git push; done', DENIED],
    ['time -p git push', DENIED],
    ["su -c 'cd x; git push'", DENIED],
    ["echo 'git push' | sudo bash -s", DENIED],
    ["command eval 'g''it push'", DENIED],
    ['echo `a \\`git push\\``', DENIED],
  ])('%j with a rule that denies a push: %s', async (text, expected) => {
    expect(await command(text, PUSH)).toBe(expected);
  });

  test('rules about paths and hosts hold for the words of a command', async () => {
    const rules: PolicyRule[] = [
      { deny: { path: '.github/**' } },
      { deny: { host: 'evil.example' } },
      { allow: { kind: 'command' } },
    ];
    const path = 'denied: deny {path: ".github/**"}';
    for (const text of [
      'rm .github/ci.yml',
      'rm ./src/../.GITHUB/ci.yml',
      `tee ${workdir}/.github/x`,
      'cat x > harmless/ci.yml',
      'dd of=.github/ci.yml',
      'sed -i s/a/b/ harmless/ci.yml',
      'rm $X',
      'rm .gith*/ci.yml',
    ])
      expect(await command(text, rules)).toBe(path);
    const host = 'denied: deny {host: "evil.example"}';
    expect(await command('curl https://EVIL.example./x', rules)).toBe(host);
    expect(await command('curl https://good.example/x', rules)).toBe('approved: allow {kind: "command"}');
  });

  test('a shell that is off stays off, and an open one needs no rule', async () => {
    const off = { permissions: { ...safePermissions, shell: 'off' } } as const;
    expect(await command('npm test', TESTS, off)).toBe('denied: permissions.shell: off');
    const open = { permissions: { ...safePermissions, shell: 'allow' } } as const;
    expect(await command('rm x', [], open)).toBe('approved: permissions.shell: allow');
    expect(await command('rm x', [{ deny: { command: 'rm*' } }], open)).toBe('denied: deny {command: "rm*"}');
  });
});

describe('files', () => {
  const change = async (path: string, rules: PolicyRule[] = [], given: Partial<Policy> = {}) => {
    const { decision, rule } = await ask({ kind: 'file-change', paths: [path] }, rules, given);
    return `${decision}: ${rule}`;
  };
  const workspace = 'permissions.filesystem: workspace';

  test.each([
    ['src/a.ts', `approved: ${workspace}`],
    ['new/deep/a.ts', `approved: ${workspace}`],
    ['../outside.txt', `denied: ${workspace} (outside it)`],
    ['/etc/passwd', `denied: ${workspace} (outside it)`],
    ['out/outside.txt', `denied: ${workspace} (outside it)`],
    ['out/work/src/a.ts', `approved: ${workspace}`],
    ['dangling', `denied: ${workspace} (outside it)`],
    ['hard', `denied: ${workspace} (a hard link)`],
    ['.git/config', `denied: ${workspace} (in .git)`],
    ['sub/.GIT/hooks/x', `denied: ${workspace} (in .git)`],
    ['src/a\0.ts', `denied: ${workspace} (outside it)`],
  ])('%j: %s', async (path, expected) => {
    expect(await change(path)).toBe(expected);
  });

  test('a rule decides before the permission, by where a path really leads', async () => {
    const rules: PolicyRule[] = [{ deny: { path: '.github/**' } }, { allow: { path: `${folder}/*.txt` } }];
    expect(await change('harmless/ci.yml', rules)).toBe('denied: deny {path: ".github/**"}');
    expect(await change('.GitHub/ci.yml', rules)).toBe('denied: deny {path: ".github/**"}');
    expect(await change('../outside.txt', rules)).toMatch(/^approved: allow/);
    expect(await change('out/outside.txt', rules)).toMatch(/^approved: allow/);
    const readOnly = { permissions: { ...safePermissions, filesystem: 'read-only' } } as const;
    expect(await change('src/a.ts', [], readOnly)).toBe('denied: permissions.filesystem: read-only');
    expect(await change('src/a.ts', [{ allow: { path: 'src/**' } }], readOnly)).toBe(
      'approved: allow {path: "src/**"}',
    );
  });

  test('full access to files opens neither the shell nor the network', async () => {
    const full = { permissions: { ...safePermissions, filesystem: 'full' } } as const;
    expect(await change('/etc/passwd', [], full)).toBe('approved: permissions.filesystem: full');
    expect(await command('ls', [], full)).toBe(DEFAULT);
    const { rule } = await ask({ kind: 'grant', what: 'network', hosts: ['x.example'] }, [], full);
    expect(rule).toBe('permissions.network: off');
  });
});

describe('everything else that an agent asks', () => {
  test.each<[Asked, PolicyRule[], string]>([
    [{ kind: 'tool', name: 'WebFetch', input: {} }, [], 'denied: default'],
    [{ kind: 'tool', name: 'mcp__tickets__close', input: {} }, [], 'approved: mcp_servers.tickets'],
    [{ kind: 'tool', name: 'mcp__other__close', input: {} }, [], 'denied: default'],
    [
      { kind: 'tool', name: 'mcp__tickets__close', input: {} },
      [{ deny: { tool: 'MCP__*__close' } }],
      'denied: deny {tool: "MCP__*__close"}',
    ],
    [
      { kind: 'tool', name: 'Write', input: {}, paths: ['../x'] },
      [{ allow: { tool: 'Write' } }],
      'denied: permissions.filesystem: workspace (outside it)',
    ],
    [
      { kind: 'tool', name: 'WebFetch', input: {}, host: '2130706433' },
      [{ allow: { tool: 'WebFetch' } }],
      'denied: permissions.network: off',
    ],
    [
      { kind: 'tool', name: 'WebFetch', input: {}, host: 'docs.example:443' },
      [{ allow: { tool: 'WebFetch', host: '*.example' } }],
      'approved: allow {tool: "WebFetch", host: "*.example"}',
    ],
    [{ kind: 'question', questions: [] }, [], 'denied: default'],
    [{ kind: 'elicitation', server: 's', message: 'm' }, [], 'denied: default'],
    [{ kind: 'plugin', what: 'install x' }, [], 'denied: permissions.apps: off'],
    [{ kind: 'config', what: 'model' }, [], 'denied: default'],
    [{ kind: 'config', what: 'model' }, [{ allow: { kind: 'config' } }], 'approved: allow {kind: "config"}'],
    [{ kind: 'grant', what: 'everything' }, [], 'denied: default'],
  ])('%j', async (request, rules, expected) => {
    const { decision, rule } = await ask(request, rules, { servers: ['tickets'] });
    expect(`${decision}: ${rule}`).toBe(expected);
  });

  test('each decision is an event, and metadata says who made it and by which rule', async () => {
    const { events } = await ask({ kind: 'command', command: 'npm test', reason: 'to check' }, TESTS);
    expect(events).toEqual([
      { type: 'approval.requested', callId: 'c', name: 'command', reason: 'to check' },
      {
        ...{ type: 'approval.decided', source: 'host', callId: 'c', decision: 'approved' },
        ...{ by: 'policy', rule: 'allow {command: "npm test*"}' },
      },
    ]);
    expect(deriveAgentMetadata(events).approvals).toEqual([
      { callId: 'c', decision: 'approved', by: 'policy', rule: 'allow {command: "npm test*"}' },
    ]);
  });

  test('a human is asked only what no rule and no permission allows', async () => {
    const asked: string[] = [];
    const given: Partial<Policy> = {
      ask: async (request) => {
        asked.push(request.kind);
        return { decision: 'approved', rule: 'answered at the terminal' };
      },
    };
    const { events } = await ask({ kind: 'command', command: 'rm x' }, TESTS, given);
    expect(events.at(-1)).toMatchObject({ decision: 'approved', by: 'user' });
    expect(await command('npm test', TESTS, given)).toBe(ALLOWED);
    expect(await command('rm x', [{ deny: { command: 'rm*' } }], given)).toMatch(/^denied/);
    expect(asked).toEqual(['command']);
  });
});
