import type { PermissionProblem, Permissions } from '../../policy/permissions.ts';
import type { PolicyRule } from '../../policy/policy.ts';
import type { AskForApproval, SandboxMode, SandboxPolicy } from './protocol.ts';

/**
 * How Codex confines what its model runs. Codex calls full access to the file system `danger-full-access`, which opens
 * the network too; with a closed network the whole file system is a writable root instead. `/tmp` is not a part of the
 * workspace; the temporary folder of the case is.
 */
export function sandboxPolicyOf({ filesystem, network }: Permissions): SandboxPolicy {
  const networkAccess = network === 'open';
  if (filesystem === 'read-only') return { type: 'readOnly', networkAccess };
  if (filesystem === 'full' && networkAccess) return { type: 'dangerFullAccess' };
  const writableRoots = filesystem === 'full' ? ['/'] : [];
  return {
    ...{ type: 'workspaceWrite', writableRoots, networkAccess },
    ...{ excludeTmpdirEnvVar: false, excludeSlashTmp: true },
  };
}

export const sandboxModeOf = (permissions: Permissions): SandboxMode =>
  SANDBOX_MODES[sandboxPolicyOf(permissions).type] ?? 'read-only';

/** The word of Codex's command line for each policy of its protocol. */
export const SANDBOX_MODES: Readonly<Record<string, SandboxMode>> = {
  readOnly: 'read-only',
  workspaceWrite: 'workspace-write',
  dangerFullAccess: 'danger-full-access',
};

/**
 * What Codex asks. With `untrusted` it asks about every command and patch, and runs an accepted command again outside its
 * sandbox when the sandbox stops it. Otherwise nothing leaves the sandbox, so nothing of it is asked.
 */
export const approvalPolicyOf = ({ shell }: Permissions): AskForApproval =>
  shell === 'ask'
    ? 'untrusted'
    : {
        granular: {
          ...{ sandbox_approval: false, rules: false },
          ...{ skill_approval: true, request_permissions: true, mcp_elicitations: true },
        },
      };

/** Settings that confine what a sandbox does not, as `-c` arguments. */
export function confiningArgs({ filesystem, shell, network, apps }: Permissions): string[] {
  const settings = {
    // The key of the model is for Codex only.
    'shell_environment_policy.exclude': ['WHETSTONE_GATEWAY_KEY', 'CODEX_API_KEY', 'OPENAI_API_KEY'],
    // Where a turn has no sandbox of its own, such as in a review.
    'sandbox_workspace_write.exclude_slash_tmp': true,
    'sandbox_workspace_write.network_access': network === 'open',
    ...(filesystem === 'full' && { 'sandbox_workspace_write.writable_roots': ['/'] }),
    // The provider searches the web, which no sandbox here can see.
    ...(network === 'off' && { web_search: 'disabled' }),
    ...(shell === 'off' && { 'features.shell_tool': false }),
    ...(apps === 'off'
      ? { 'features.apps': false, 'features.skill_mcp_dependency_install': false }
      : { 'features.plugins': true }),
  };
  return Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${JSON.stringify(value)}`]);
}

/** Rules that Codex would not keep: about what it does not ask, and what leaves its sandbox once it is allowed. */
export function unkeptRules(permissions: Permissions, policy: readonly PolicyRule[]): PermissionProblem[] {
  const { filesystem, shell, network } = permissions;
  const isOpen = filesystem === 'full' && network === 'open';
  return policy.flatMap((rule, index) => {
    const at = { path: ['policy', index] };
    if (shell !== 'ask' && concerns(rule, ['command', 'file-change'])) {
      const message = `codex-app-server asks about no command and no patch with shell: ${shell}`;
      return [{ ...at, message, hint: 'remove the rule, or use shell: ask' }];
    }
    if (shell === 'ask' && !isOpen && 'allow' in rule && concerns(rule, ['command'])) {
      const message = `codex-app-server runs an allowed command again outside its sandbox, so filesystem: ${filesystem} and network: ${network} would not hold`;
      const hint =
        'use shell: allow, whose commands stay in the sandbox, or filesystem: full with network: open';
      return [{ ...at, message, hint }];
    }
    return [];
  });
}

/** Whether a rule decides about requests of such a kind. A path is that of a patch, a host that of a command. */
function concerns(rule: PolicyRule, kinds: readonly string[]): boolean {
  const { kind, command, path, host } = 'allow' in rule ? rule.allow : rule.deny;
  if (kind !== undefined) return kinds.includes(kind);
  return kinds.includes('command') && (command !== undefined || host !== undefined)
    ? true
    : kinds.includes('file-change') && path !== undefined;
}
