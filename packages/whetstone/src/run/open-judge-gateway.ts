import { createAgent } from '@whetstone/agents';
import { needsKey } from '@whetstone/agents/evaluator';
import { present } from '@whetstone/events/present';
import type { JudgeGateway, JudgeKind, LabJudge } from '../attempt/lab.ts';
import type { GatewayConfig, JudgeConfig, UpstreamConfig } from '../config/config.ts';
import { fingerprintJudge } from '../plan/fingerprint.ts';
import { gatewayOptions, JUDGE, modesOf } from './open-gateway.ts';
import { startProblems } from './start-problems.ts';

/** The gateway of a judge, listening. Disposing closes it. */
type OpenJudgeGateway = JudgeGateway & AsyncDisposable;

/**
 * Opens the gateway of the judge if there is one. It is its own, so that neither its calls nor its budget are those of the
 * agents. It works in the mode of the run's gateway; without one it forwards.
 * @throws WhetstoneError `script-invalid`, `upstream-missing`; GatewayError `key-unavailable`
 */
export async function openJudgeGateway(
  judge: JudgeConfig | undefined,
  ofAgents: GatewayConfig | undefined,
  { seed }: { seed: string },
): Promise<OpenJudgeGateway | undefined> {
  return judge && open(judge, ofAgents, seed);
}

async function open(
  judge: JudgeConfig,
  ofAgents: GatewayConfig | undefined,
  seed: string,
): Promise<OpenJudgeGateway> {
  const gateway = gatewayOf(judge, ofAgents);
  const needsKeys = judge.model !== undefined || (judge.agent !== undefined && needsKey(judge.agent));
  await requireKeys(judge, gateway);
  const modeOf = (by: JudgeKind) => modesOf(gateway, seed, needsKeys, JUDGE[by]);
  const modes = { model: await modeOf('model'), agent: await modeOf('agent') };
  const { createGateway } = await import('@whetstone/gateway');
  const server = await createGateway(gatewayOptions(gateway));
  return {
    server,
    laneOf: async (planned, by) => ({ mode: await modes[by](planned, {}) }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The judge of a run; its agent is made once and serves all cases. */
export async function openJudge(config: JudgeConfig, gateway: JudgeGateway): Promise<LabJudge> {
  const judge = { config, gateway, fingerprint: await fingerprintJudge(config) };
  if (!config.agent) return judge;
  const agent = await createAgent(config.agent, { environment: process.env, hasLanes: true });
  return { ...judge, agent };
}

/** A judge that opens its gateway with its first question. Disposing closes it. */
export type LaterJudge = AsyncDisposable &
  Pick<LabJudge, 'config' | 'fingerprint'> & { open(): Promise<LabJudge> };

/**
 * The judge of stored cases: most questions have an answer there, and need no key. It records nothing, because the
 * recordings of its name belong to the stored run.
 */
export async function openLaterJudge(
  config: JudgeConfig | undefined,
  ofAgents: GatewayConfig | undefined,
  { seed }: { seed: string },
): Promise<LaterJudge | undefined> {
  if (!config) return undefined;
  const fingerprint = await fingerprintJudge(config);
  let opening: Promise<OpenJudgeGateway> | undefined;
  return {
    ...{ config, fingerprint },
    async open() {
      opening ??= open(config, withoutRecording(ofAgents), seed);
      return { config, fingerprint, gateway: await opening };
    },
    async [Symbol.asyncDispose]() {
      const opened = await opening?.catch(() => undefined);
      await opened?.[Symbol.asyncDispose]();
    },
  };
}

function withoutRecording(gateway: GatewayConfig | undefined): GatewayConfig | undefined {
  if (gateway?.mode !== 'record') return gateway;
  const { cassettes: _, ...rest } = gateway;
  return { ...rest, mode: 'forward' };
}

/** Without the faults and the limits of the agents, and with the provider of the judge's model. */
function gatewayOf({ model, script, budget }: JudgeConfig, ofAgents: GatewayConfig = FORWARD): GatewayConfig {
  const { runBudget: _, budget: __, ...rest } = ofAgents;
  const own = { ...rest, faults: [], ...present({ runBudget: budget }) };
  if (own.mode === 'script') return { ...own, script: script ?? own.script };
  if (typeof model !== 'string') return own;
  const provider = model.slice(0, model.indexOf('/')) as UpstreamConfig['provider'];
  return { ...own, upstreams: [own.upstreams.find((one) => one.provider === provider) ?? { provider }] };
}

const FORWARD: GatewayConfig = {
  ...{ mode: 'forward', upstreams: [], providerTools: false, allowEndpoints: [], faults: [] },
};

/** A missing key is known before an agent costs anything. The command of a key only runs when it is needed. */
async function requireKeys({ model, agent }: JudgeConfig, gateway: GatewayConfig): Promise<void> {
  const [problem] = agent ? await startProblems({ gateway }, [agent], process.env) : [];
  if (problem) throw problem.error;
  if (typeof model !== 'string' || (gateway.mode !== 'forward' && gateway.mode !== 'record')) return;
  const { chooseUpstreams } = await import('../gateway/choose-upstreams.ts');
  const { readKey } = await import('@whetstone/gateway');
  for (const { key } of Object.values(chooseUpstreams(gateway.upstreams))) {
    if (key !== 'client' && !('command' in key)) await readKey(key);
  }
}
