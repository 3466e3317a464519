import { WhetstoneError } from '@whetstone/errors';
import type { JsonObject } from '@whetstone/events';
import type { AgentConfig, DriverAgentConfig } from '../config.ts';
import { textIn } from '../kit/fields.ts';
import type { PermissionProblem } from '../policy/permissions.ts';
import { drivenAgentOf } from './driven-agent-of.ts';
import type { AttachFacts, DrivenAgent } from './native-agent.ts';

/** The address of the user's server that these options name; `undefined`: Whetstone starts what it drives. */
export const serverIn = ({ attaches }: DrivenAgent, options: JsonObject = {}): string | undefined =>
  attaches && textIn(options[attaches.option]);

/** The address of the user's server that an agent works on. */
export const attachedServer = (agent: AgentConfig): string | undefined =>
  agent.runner === 'driver' ? serverIn(drivenAgentOf(agent), agent.driver.options) : undefined;

/** What a configuration asks of a server that is not Whetstone's to configure. */
export function attachProblems(config: DriverAgentConfig): PermissionProblem[] {
  const { attaches } = drivenAgentOf(config);
  if (!attaches || attachedServer(config) === undefined) return [];
  const { auth, baseUrl, apiKeyEnv, inherit, model, permissions = {} } = config.driver;
  const { option } = attaches;
  const asked = {
    auth: auth !== undefined,
    base_url: baseUrl !== undefined,
    api_key_env: apiKeyEnv !== undefined,
    inherit: inherit.length > 0,
    'permissions.environment': permissions.environment !== undefined,
  };
  const problems = Object.entries(asked).flatMap(([key, isAsked]) => {
    const message = `${key} does not apply to an agent on a server of yours, which has its own`;
    return isAsked ? [{ path: key.split('.'), message, hint: `remove it, or remove options.${option}` }] : [];
  });
  return isNamed(attaches, model)
    ? problems
    : [...problems, { path: ['model'], ...unnamed(attaches, model) }];
}

const isNamed = ({ model: { pattern } }: AttachFacts, model: string | undefined): boolean =>
  model === undefined || pattern.test(model);

const unnamed = ({ model: { example } }: AttachFacts, model: string | undefined) => ({
  message: `the server would not know which provider has the model ${model}`,
  hint: `name the provider, too, as in ${example}`,
});

/** @throws WhetstoneError `agent-model-missing` for a model of a turn that is not named as those of its server are */
export function requireNamedModel(agent: DrivenAgent, where: string, model: string | undefined): void {
  const { attaches } = agent;
  if (!attaches || isNamed(attaches, model)) return;
  const { message, hint } = unnamed(attaches, model);
  throw new WhetstoneError('agent-model-missing', `The agent ${where} gets no model: ${message}.`, {
    where,
    hint,
  });
}
