import { expect, test } from 'vitest';
import { toAgentConfig } from '../agent-options.ts';
import type { DriverAgentConfig } from '../config.ts';
import { driverProblems } from '../native/check-options.ts';
import { drivenAgentOf } from '../native/driven-agent-of.ts';
import { drivenAgentKinds, enforcerOf, protocolAgentsOf } from '../native/native-agents.ts';
import { enforceable, type Permissions, permissionsOf, permissionValues } from './permissions.ts';

const overAcp = Object.keys(protocolAgentsOf('acp') ?? {}) as (typeof drivenAgentKinds)[number][];
const agents = [
  ...drivenAgentKinds.map((kind) => ({ name: kind, kind })),
  ...overAcp.map((agent) => ({ name: `acp:${agent}`, kind: 'acp' as const, agent })),
];

function held({ name, ...agent }: (typeof agents)[number], permissions: Partial<Permissions>) {
  const config = toAgentConfig({ ...agent, permissions }) as DriverAgentConfig;
  const driven = drivenAgentOf(config);
  const enforcer = enforcerOf(driven);
  return {
    problems: driverProblems(config, driven),
    all: permissionsOf(enforcer, permissions),
    ...enforcer,
    can: (surface: keyof Permissions) => enforceable(surface, enforcer.enforces),
  };
}

const values = Object.entries(permissionValues).flatMap(([surface, all]) =>
  all.map((value) => [surface as keyof Permissions, value] as const),
);

test.each(agents)('$name is held to each value of a permission, or refuses it', (agent) => {
  for (const [surface, value] of values) {
    const { problems, can } = held(agent, { [surface]: value });
    const isPossible = can(surface).includes(value);
    // What is possible may need another value beside it, and then says which.
    const wrong = problems.filter(({ path }) => path.join('.') === `permissions.${surface}`);
    expect(wrong.length, `${surface}: ${value}`).toBe(isPossible ? 0 : 1);
    for (const { hint } of problems) expect(hint).toMatch(/write|use|it can/);
  }
});

test.each(agents)('$name begins with permissions that hold together', (agent) => {
  const { problems, all, asks, enforces } = held(agent, {});
  expect(problems).toEqual([]);
  // An allowed command that nothing confines could write anywhere.
  if (asks && !enforces.ownSandbox) expect(['off', 'ask']).toContain(all.shell);
});
