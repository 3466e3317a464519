import { expect, test } from 'vitest';
import { type Permissions, permissionProblems, safePermissions } from '../../policy/permissions.ts';
import { enforcerOf } from '../native-agents.ts';
import { codexAppServer } from './codex-app-server.ts';
import { approvalPolicyOf, confiningArgs, sandboxModeOf, sandboxPolicyOf } from './confinement.ts';
import { options } from './options.ts';

const of = (given: Partial<Permissions>): Permissions => ({ ...safePermissions, ...given });

test.each([
  [{ filesystem: 'read-only' }, 'read-only', { type: 'readOnly', networkAccess: false }],
  [{ filesystem: 'read-only', network: 'open' }, 'read-only', { type: 'readOnly', networkAccess: true }],
  [
    {},
    'workspace-write',
    { type: 'workspaceWrite', writableRoots: [], networkAccess: false, excludeSlashTmp: true },
  ],
  [{ network: 'open' }, 'workspace-write', { networkAccess: true, excludeSlashTmp: true }],
  // Codex's full access opens the network.
  [{ filesystem: 'full' }, 'workspace-write', { writableRoots: ['/'], networkAccess: false }],
  [{ filesystem: 'full', network: 'open' }, 'danger-full-access', { type: 'dangerFullAccess' }],
] as const)('%j is the sandbox %s', (given, mode, policy) => {
  expect(sandboxPolicyOf(of(given))).toMatchObject(policy);
  expect(sandboxModeOf(of(given))).toBe(mode);
});

test('a shell that is asked for asks about everything, another one about nothing that leaves the sandbox', () => {
  expect(approvalPolicyOf(of({}))).toBe('untrusted');
  for (const shell of ['allow', 'off'] as const) {
    expect(approvalPolicyOf(of({ shell }))).toMatchObject({
      granular: { sandbox_approval: false, rules: false },
    });
  }
});

test('each surface has its own settings', () => {
  const settings = (given: Partial<Permissions>) => confiningArgs(of(given)).join(' ');
  expect(settings({})).toContain('web_search="disabled"');
  expect(settings({ network: 'open' })).not.toContain('web_search');
  expect(settings({ shell: 'off' })).toContain('features.shell_tool=false');
  expect(settings({})).toContain('features.apps=false');
  expect(settings({ apps: 'allow' })).not.toContain('features.apps');
  expect(settings({ environment: 'inherit' })).toContain('WHETSTONE_GATEWAY_KEY');
});

const problems = (
  permissions: Partial<Permissions>,
  policy: Parameters<typeof permissionProblems>[2]['policy'] = [],
) =>
  permissionProblems('codex-app-server', enforcerOf(codexAppServer), { permissions, policy }).map(
    ({ message }) => message,
  );

test('a rule that Codex would not keep is refused', () => {
  const open = { filesystem: 'full', network: 'open' } as const;
  const allowed = [{ allow: { command: 'npm test' } }];
  expect(problems({}, allowed)).toEqual([expect.stringContaining('again outside its sandbox')]);
  expect(problems(open, allowed)).toEqual([]);
  expect(problems({}, [{ deny: { command: 'rm *' } }, { allow: { path: 'docs/**' } }])).toEqual([]);
  for (const rule of [
    { deny: { command: 'rm *' } },
    { deny: { path: '.ci/**' } },
    { allow: { kind: 'command' } } as const,
  ]) {
    expect(problems({ shell: 'allow' }, [rule])).toEqual([expect.stringContaining('asks about no command')]);
  }
  expect(
    problems({ shell: 'allow' }, [{ allow: { tool: 'mcp__*' } }, { deny: { kind: 'question' } }]),
  ).toEqual([]);
});

test.each([
  [{ ephemeral: true, cleanup: 'archive' }, 'cleanup'],
  [{ resume: 'a', fork: 'b' }, 'fork'],
  [{ ephemeral: true, resume: 'a' }, 'ephemeral'],
  [{ review: 'custom', steer: [{ after_calls: 1, text: 'a' }] }, 'steer'],
  [{ reuse_server: true, trace: { endpoint: 'http://localhost:4318' } }, 'reuse_server'],
  [{ cleanup: 'delete' }, 'cleanup'],
  [{ review: { tag: 'a' } }, 'review'],
  [{ no_such_option: 1 }, undefined],
])('the options %j are refused', (given, path) => {
  const { error } = options.strict().safeParse(given);
  expect(error?.issues[0]?.path[0]).toBe(path);
});
