import type { PolicyRule } from './policy.ts';

/**
 * What an agent may use, as separate options (provider taxonomy, "Workspace and Side Effects"). One option never opens
 * another: full access to the file system does not open the network.
 */
export type Permissions = {
  /** `workspace`: it may write in its workspace only. It may read more, unless its page says otherwise. */
  filesystem: 'read-only' | 'workspace' | 'full';
  /** `ask`: the policy decides about each command. */
  shell: 'off' | 'ask' | 'allow';
  /** Of the commands and tools that the agent runs. Its model is always reachable. */
  network: 'off' | 'open';
  /** Plugins and app connectors that the agent brings or finds by itself. Those of a variant are always given. */
  apps: 'off' | 'allow';
  /** `minimal`: PATH, locale and what the agent needs. `inherit`: also the user's own environment, keys included. */
  environment: 'minimal' | 'inherit';
};

/** The values of each permission, from the closest to the most open. */
export const permissionValues = {
  filesystem: ['read-only', 'workspace', 'full'],
  shell: ['off', 'ask', 'allow'],
  network: ['off', 'open'],
  apps: ['off', 'allow'],
  environment: ['minimal', 'inherit'],
} as const satisfies { [Surface in keyof Permissions]: readonly Permissions[Surface][] };

/** For agents that are asked through a protocol: nothing leaves the workspace, and each command is asked for. */
export const safePermissions: Permissions = {
  filesystem: 'workspace',
  shell: 'ask',
  network: 'off',
  apps: 'off',
  environment: 'minimal',
};

/** For agents that decide by themselves: only the sandbox confines them. */
export const openPermissions: Permissions = {
  filesystem: 'full',
  shell: 'allow',
  network: 'open',
  apps: 'allow',
  environment: 'minimal',
};

/**
 * What an agent can be held to, beside its most open values: found by running it, never taken from its documentation.
 * The environment is not here, because Whetstone itself gives it to each agent.
 */
export type Enforces = {
  readonly [Surface in Exclude<keyof Permissions, 'environment'>]?: readonly Permissions[Surface][];
} & {
  /** Why the agent cannot be held to these values together; `undefined` if it can. Default: it always can. */
  readonly together?: (permissions: Permissions) => string | undefined;
  /** Whether the agent then starts commands in a sandbox of its own, which takes namespaces. Default: it never does. */
  readonly ownSandbox?: (permissions: Permissions) => boolean;
};

/** Of agents that leave tools out and have no sandbox of their own. */
export const closedOnlyWithoutShell = ({ filesystem, shell, network }: Permissions): string | undefined =>
  shell !== 'off' && (filesystem !== 'full' || network !== 'open')
    ? 'a command could do what the other permissions forbid: write shell: off, too'
    : undefined;

/** Of agents that ask for each command, which nothing confines once it is allowed. */
export const shellOpensAll = ({ filesystem, shell, network }: Permissions): string | undefined =>
  shell === 'allow' && (filesystem !== 'full' || network !== 'open')
    ? 'with shell: allow its commands run outside every permission: write filesystem: full and network: open, too'
    : undefined;

/** What decides which permissions an agent has. */
export type Enforcer = {
  enforces: Enforces;
  /** It asks, and a policy can answer. */
  asks: boolean;
  /** It begins with the safe permissions, as far as it can be held to them. Default: if it asks. */
  beginsSafe?: boolean;
  /** Of a policy, the rules that the agent would not keep with these permissions. Default: none. */
  unkeptRules?: (permissions: Permissions, policy: readonly PolicyRule[]) => PermissionProblem[];
};

/** The permissions of an agent: those of its configuration, else the safe ones or the open ones, as it begins. */
export function permissionsOf(
  { enforces, asks, beginsSafe = asks }: Enforcer,
  given: Partial<Permissions> = {},
): Permissions {
  const safe = Object.entries(safePermissions).filter(([surface, value]) => {
    const values: readonly string[] = enforces[surface as Exclude<keyof Permissions, 'environment'>] ?? [];
    return beginsSafe && values.includes(value);
  });
  return { ...openPermissions, ...Object.fromEntries(safe), ...(beginsSafe && noShell(enforces)), ...given };
}

/** A shell that cannot be asked about, and that nothing confines, would open what the other safe values close. */
function noShell({ shell = [], ownSandbox }: Enforces): { shell?: 'off' } {
  return shell.includes('off') && !shell.includes('ask') && !ownSandbox ? { shell: 'off' } : {};
}

/** Why a configuration asks an agent for what it cannot be held to. `path`: below the agent. */
export type PermissionProblem = { path: readonly (string | number)[]; message: string; hint: string };

export function permissionProblems(
  kind: string,
  enforcer: Enforcer,
  { permissions = {}, policy = [] }: { permissions?: Partial<Permissions>; policy?: readonly PolicyRule[] },
): PermissionProblem[] {
  const { enforces, asks, unkeptRules } = enforcer;
  const problems: PermissionProblem[] = Object.entries(permissions).flatMap(([surface, value]) => {
    const possible = enforceable(surface as keyof Permissions, enforces);
    if (possible.includes(value)) return [];
    const message = `${kind} cannot be held to ${surface}: ${value}`;
    return [{ path: ['permissions', surface], message, hint: `it can: ${possible.join(', ')}` }];
  });
  const conflict =
    problems.length === 0 ? enforces.together?.(permissionsOf(enforcer, permissions)) : undefined;
  if (conflict !== undefined)
    problems.push({
      path: ['permissions'],
      message: `${kind} cannot be held to these together`,
      hint: conflict,
    });
  if (asks && problems.length === 0) return unkeptRules?.(permissionsOf(enforcer, permissions), policy) ?? [];
  if (asks || policy.length === 0) return problems;
  const message = `${kind} decides by itself and asks nothing, so no rule could decide`;
  const hint = 'use permissions, or an agent that asks: docs/agents/permissions.md names them';
  return [...problems, { path: ['policy'], message, hint }];
}

/** The values of a permission that an agent can be held to. */
export function enforceable(surface: keyof Permissions, enforces: Enforces): readonly string[] {
  if (surface === 'environment') return permissionValues.environment;
  const held: readonly string[] = enforces[surface] ?? [];
  return permissionValues[surface].filter(
    (value) => held.includes(value) || value === openPermissions[surface],
  );
}
