import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { AgentContext } from '../agent.ts';
import type { DriverAgentConfig } from '../config.ts';
import { leadsToGateway } from '../kit/leads-to-gateway.ts';
import { attachedServer } from './attached-server.ts';
import { drivenAgentOf } from './driven-agent-of.ts';
import { type Login, needsKey, readLogin, usesLogin } from './login.ts';
import { modelProviderOf } from './model-provider.ts';
import type { Access } from './native-agent.ts';

type TurnAccess = {
  access: Access;
  /** As the user has it now: an earlier case may have refreshed it. */
  login?: Login;
  /** Of the user: masked in everything that is kept. */
  secrets: string[];
  /** The lane's key, if it is in an address, which agents print. Of no use when the lane has closed. */
  laneKey?: string;
};

/**
 * Checks, before anything runs, that a driven agent can reach a model, and returns how it does in each turn.
 * @throws WhetstoneError `agent-key-missing`, `agent-login-missing`
 */
export function openAccess(
  config: DriverAgentConfig,
  user: { environment: NodeJS.ProcessEnv; hasLanes: boolean },
): (context: Pick<AgentContext, 'lane'>) => TurnAccess {
  const { environment } = user;
  if (attachedServer(config) !== undefined) {
    return () => ({ access: { kind: 'login', env: {} }, secrets: [] });
  }
  if (usesLogin(config)) {
    readLogin(config, environment);
    return ({ lane }) => {
      const login = readLogin(config, environment);
      // The agent sends its login where the key of a lane would be, so its address has the key.
      const baseUrl = lane ? `${lane.baseUrl}.${lane.key}` : config.driver.baseUrl;
      return {
        access: { kind: 'login', env: login.env, ...present({ baseUrl }) },
        login,
        secrets: login.secrets,
        ...present({ laneKey: lane?.key }),
      };
    };
  }
  const hasLane = user.hasLanes && leadsToGateway(config);
  const provider = hasLane ? undefined : modelProviderOf(config, environment);
  return ({ lane = provider }) => {
    if (!lane) throw new TypeError('The agent has neither a lane nor a provider.');
    const { baseUrl, key } = lane;
    return { access: { kind: 'key', baseUrl, key }, secrets: provider ? [provider.key] : [] };
  };
}

/** @throws WhetstoneError `agent-model-missing`, for an agent that has no model of its own when it has a key */
export function requireModel(config: DriverAgentConfig): void {
  const { name, driver } = config;
  const { needsModel } = drivenAgentOf(config).release;
  if (needsModel === undefined || driver.model !== undefined || !needsKey(config)) return;
  throw new WhetstoneError('agent-model-missing', `The agent ${name} names no model: ${needsModel}.`, {
    where: `agents.${name}`,
    hint: 'Name a model of your provider (`model:` in a configuration), or use `auth: login`.',
  });
}
