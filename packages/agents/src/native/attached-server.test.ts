import { expect, test } from 'vitest';
import { toAgentConfig } from '../agent-options.ts';
import type { DriverAgentConfig, DriverOptions } from '../config.ts';
import { agentKeyVariable } from '../kit/agent-secrets.ts';
import { leadsToGateway } from '../kit/leads-to-gateway.ts';
import { permissionsOf } from '../policy/permissions.ts';
import { driverProblems } from './check-options.ts';
import { contextPlacesOf } from './context-places.ts';
import { drivenAgentOf } from './driven-agent-of.ts';
import { enforcerOf } from './native-agents.ts';

const onServer = (given: Partial<DriverOptions> = {}) =>
  toAgentConfig({
    ...{ kind: 'opencode-sdk', options: { server_url: 'http://127.0.0.1:4096' } },
    ...given,
  }) as DriverAgentConfig;

test('an agent on a server of the user needs no key, and gets only instructions', () => {
  const config = onServer();
  expect(agentKeyVariable(config)).toBeUndefined();
  expect(leadsToGateway(config)).toBe(false);
  expect(contextPlacesOf(config)).toMatchObject({ instructions: 'AGENTS.md', mcpServers: false });
  expect(contextPlacesOf(config)).not.toHaveProperty('skills');
  expect(contextPlacesOf(config)).not.toHaveProperty('plugins');
  const enforcer = enforcerOf(drivenAgentOf(config), config.driver.options);
  expect(permissionsOf(enforcer)).toMatchObject({ filesystem: 'workspace', shell: 'ask', apps: 'allow' });
});

test.each<[Partial<DriverOptions>, string, string]>([
  [{ auth: 'login' }, 'auth', 'does not apply'],
  [{ baseUrl: 'http://x' }, 'base_url', 'does not apply'],
  [{ apiKeyEnv: 'KEY' }, 'api_key_env', 'does not apply'],
  [{ inherit: ['.ssh'] }, 'inherit', 'does not apply'],
  [{ permissions: { environment: 'minimal' } }, 'permissions.environment', 'does not apply'],
  [{ permissions: { apps: 'off' } }, 'permissions.apps', 'cannot be held to'],
  [{ permissions: { shell: 'allow' } }, 'permissions', 'cannot be held to these together'],
  [{ model: 'gpt-5' }, 'model', 'which provider has the model gpt-5'],
])('%j is refused', (given, path, message) => {
  const config = onServer(given);
  expect(driverProblems(config, drivenAgentOf(config))).toMatchObject([
    { path: path.split('.'), message: expect.stringContaining(message) },
  ]);
});

test('a call that the server of the user allows is fine', () => {
  const config = onServer({ model: 'anthropic/claude-sonnet-4-5', policy: [{ allow: { command: 'ls' } }] });
  expect(driverProblems(config, drivenAgentOf(config))).toEqual([]);
});
