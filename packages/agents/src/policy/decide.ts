import { realpathSync } from 'node:fs';
import type { StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { isGitFolder, isUnder } from '@whetstone/sandbox';
import { type Aspect, decidingRule, type Facts, hostOf } from './match-rule.ts';
import type { Permissions } from './permissions.ts';
import type { AskHuman, DecidePolicy, PolicyDecision, PolicyRequest, PolicyRule } from './policy.ts';
import { type RealPath, realPathOf, type SeenPlace } from './real-path.ts';
import { commandsIn, type ScriptCommands } from './script-commands.ts';

export type Policy = {
  permissions: Permissions;
  rules: readonly PolicyRule[];
  /** The names of the MCP servers that the variant gives: their tools need no rule. Default: none. */
  servers?: readonly string[];
  workdir: string;
  /** Default: the agent sees the paths of this machine. */
  place?: SeenPlace | undefined;
  emit: (event: StreamEvent) => void;
  /** Default: nobody is asked. */
  ask?: AskHuman | undefined;
};

/**
 * Decides without a human, and reports each question and its decision. A request is allowed if each command, path and
 * host of it is: by the first rule that is about it, else by the permission. What nothing allows is denied.
 */
export function createPolicy(policy: Policy): DecidePolicy {
  const { emit, ask, rules } = policy;
  return async (request) => {
    const { callId, reason } = request;
    emit({ type: 'approval.requested', callId, name: nameOf(request), ...present({ reason }) });
    const byPolicy = await decide(request, policy);
    const isOpen = byPolicy.decision === 'denied' && !rules.some((rule) => ruleText(rule) === byPolicy.rule);
    const byUser = isOpen ? await ask?.(request) : undefined;
    const { decision, rule } = byUser ?? byPolicy;
    const by = byUser ? 'user' : 'policy';
    emit({ type: 'approval.decided', source: 'host', callId, decision, by, rule });
    return byUser ?? byPolicy;
  };
}

const nameOf = (request: PolicyRequest): string => (request.kind === 'tool' ? request.name : request.kind);

/** A rule as it is written: `allow {command: "npm test*"}`. */
export function ruleText(rule: PolicyRule): string {
  const [verb = '', conditions = {}] = Object.entries(rule)[0] ?? [];
  const parts = Object.entries(conditions).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `${verb} {${parts.join(', ')}}`;
}

async function decide(request: PolicyRequest, policy: Policy): Promise<PolicyDecision> {
  const { shell } = policy.permissions;
  if (request.kind === 'command' && shell === 'off') return verdict(false, 'permissions.shell: off');
  const script = request.kind === 'command' ? commandsIn(request.command) : undefined;
  const facts = await factsOf(request, policy, script);
  const writes = await writtenBy(request, script, facts, policy);
  let allowed: PolicyDecision | undefined;
  for (const { aspect, isNeeded } of aspectsOf(request, script, facts, writes)) {
    const rule = decidingRule(aspect, facts, policy.rules);
    if (!rule && !isNeeded) continue;
    const decision = rule
      ? verdict('allow' in rule, ruleText(rule))
      : byPermission(aspect, request, policy, facts);
    if (decision.decision === 'denied') return decision;
    allowed ??= decision;
  }
  return allowed ?? verdict(false, 'default');
}

async function factsOf(
  request: PolicyRequest,
  { workdir, place }: Policy,
  script?: ScriptCommands,
): Promise<Facts> {
  const root = place ? place.seenPath(realpathSync(place.hostPath(workdir))) : realpathSync(workdir);
  const folder = request.kind === 'command' ? (request.cwd ?? root) : root;
  const named = 'paths' in request ? (request.paths ?? []) : [];
  // Any word may be a path. Only rules that deny see those that are not written to.
  const words =
    script?.commands.flatMap(({ words, writes }) => [...words.slice(1).map(pathPart), ...writes]) ?? [];
  const hosts = 'hosts' in request ? (request.hosts ?? []) : 'host' in request ? [request.host ?? ''] : [];
  return {
    kind: request.kind,
    ...(request.kind === 'tool' && { tool: request.name }),
    paths: await Promise.all([...named, ...words].map((path) => realPathOf(path, folder, place))),
    hosts: hosts.flatMap((host) => (host === '' ? [] : [hostOf(host) ?? host])),
    workdir: root,
  };
}

/** `--output=x` and `of=x` name the path `x`. */
const pathPart = (word: string): string => word.replace(/^-*[\w-]+=(?=.)/, '');

async function writtenBy(
  request: PolicyRequest,
  script: ScriptCommands | undefined,
  facts: Facts,
  { place }: Policy,
): Promise<RealPath[]> {
  const folder = (request.kind === 'command' && request.cwd) || facts.workdir;
  const writes = script?.commands.flatMap((command) => command.writes) ?? [];
  const files = writes.filter((path) => !/^(?:\/dev\/(?:null|stdout|stderr|tty)|\d+|-)$/.test(path));
  return Promise.all(files.map((path) => realPathOf(path, folder, place)));
}

/** What has to be allowed; first what the request is about. */
function aspectsOf(
  request: PolicyRequest,
  script: ScriptCommands | undefined,
  { paths, hosts }: Facts,
  writes: readonly RealPath[],
): { aspect: Aspect; isNeeded: boolean }[] {
  const needed = (aspect: Aspect) => ({ aspect, isNeeded: true });
  const host = hosts.map((each) => needed({ kind: 'host', host: each }));
  if (script) {
    return [
      ...script.commands.map((command) => ({
        aspect: { kind: 'command', command } as const,
        isNeeded: command.isNeeded,
      })),
      ...(script.isWhole ? [] : [needed({ kind: 'unread' })]),
      ...writes.map((path) => needed({ kind: 'path', path })),
      ...host,
    ];
  }
  const path = paths.map((each) => needed({ kind: 'path', path: each }));
  const isOnlyPlaces =
    ['file-change', 'file-read', 'grant'].includes(request.kind) && path.length + host.length > 0;
  return [...(isOnlyPlaces ? [] : [needed({ kind: 'request' })]), ...path, ...host];
}

function byPermission(
  aspect: Aspect,
  request: PolicyRequest,
  { permissions, servers = [] }: Policy,
  { workdir }: Facts,
): PolicyDecision {
  const { filesystem, shell, network, apps } = permissions;
  switch (aspect.kind) {
    case 'command':
    case 'unread':
      return verdict(shell === 'allow', `permissions.shell: ${shell}`);
    case 'host':
      return verdict(network === 'open', `permissions.network: ${network}`);
    case 'path': {
      const isInside = isUnder(workdir, aspect.path.real);
      if (filesystem === 'full') return verdict(true, 'permissions.filesystem: full');
      if (request.kind === 'file-read') return verdict(isInside, `permissions.filesystem: ${filesystem}`);
      const problem = !isInside
        ? ' (outside it)'
        : aspect.path.isHardLinked
          ? ' (a hard link)'
          : inGit(aspect.path);
      const isAllowed = filesystem === 'workspace' && problem === '';
      return verdict(
        isAllowed,
        `permissions.filesystem: ${filesystem}${filesystem === 'workspace' ? problem : ''}`,
      );
    }
    case 'request': {
      if (request.kind === 'plugin') return verdict(apps === 'allow', `permissions.apps: ${apps}`);
      const server =
        request.kind === 'tool' && servers.find((name) => request.name.startsWith(`mcp__${name}__`));
      return server ? verdict(true, `mcp_servers.${server}`) : verdict(false, 'default');
    }
  }
}

/** Hooks and settings of Git run programs. */
const inGit = ({ real }: RealPath): string => (real.split('/').some(isGitFolder) ? ' (in .git)' : '');

const verdict = (isAllowed: boolean, rule: string): PolicyDecision => ({
  decision: isAllowed ? 'approved' : 'denied',
  rule,
});
