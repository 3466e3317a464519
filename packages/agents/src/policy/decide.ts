import { isAbsolute, resolve } from 'node:path';
import type { StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { isUnder } from '@whetstone/sandbox';
import type { Permissions } from './permissions.ts';
import type { DecidePolicy, PolicyDecision, PolicyRequest, PolicyRule } from './policy.ts';

type Policy = {
  permissions: Permissions;
  rules: readonly PolicyRule[];
  workdir: string;
  emit: (event: StreamEvent) => void;
};

/** Decides without a human, and reports each question and its decision. What nothing allows is denied. */
export function createPolicy({ permissions, rules, workdir, emit }: Policy): DecidePolicy {
  return async (request) => {
    const { callId, reason } = request;
    emit({ type: 'approval.requested', callId, name: nameOf(request), ...present({ reason }) });
    const decided = byRule(request, rules) ?? byPermission(request, permissions, workdir);
    emit({
      type: 'approval.decided',
      source: 'host',
      callId,
      decision: decided.decision,
      by: 'policy',
      rule: decided.rule,
    });
    return decided;
  };
}

const nameOf = (request: PolicyRequest): string => (request.kind === 'tool' ? request.name : request.kind);

function byRule(request: PolicyRequest, rules: readonly PolicyRule[]): PolicyDecision | undefined {
  const rule = rules.find((each) => ('allow' in each ? each.allow : each.deny).kind === request.kind);
  return rule && { decision: 'allow' in rule ? 'approved' : 'denied', rule: JSON.stringify(rule) };
}

function byPermission(request: PolicyRequest, permissions: Permissions, workdir: string): PolicyDecision {
  const { filesystem, shell, network } = permissions;
  switch (request.kind) {
    case 'command':
      return verdict(
        shell === 'allow' && (request.host === undefined || network === 'open'),
        `permissions.shell: ${shell}`,
      );
    case 'file-change': {
      const isInside = request.paths.every((path) =>
        isUnder(workdir, isAbsolute(path) ? path : resolve(workdir, path)),
      );
      const isAllowed = filesystem === 'full' || (filesystem === 'workspace' && isInside);
      return verdict(isAllowed, `permissions.filesystem: ${filesystem}`);
    }
    default:
      return verdict(false, 'default');
  }
}

const verdict = (isAllowed: boolean, rule: string): PolicyDecision => ({
  decision: isAllowed ? 'approved' : 'denied',
  rule,
});
