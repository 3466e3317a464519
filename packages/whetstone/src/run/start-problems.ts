import { type AgentConfig, drivenAgentOf } from '@whetstone/agents/config';
import {
  agentProblems,
  hasOwnSandbox,
  leadsToGateway,
  loopDefaults,
  needsKey,
} from '@whetstone/agents/evaluator';
import { WhetstoneError } from '@whetstone/errors';
import { limitsOf } from '@whetstone/sandbox';
import type { Config, UpstreamConfig } from '../config/config.ts';
import { usesEngine } from '../config/sandbox-facts.ts';
import type { YamlPath } from '../config/yaml-source.ts';

/** What would keep a run from starting, as the error that the run reports, and the agent or the keys that it is about. */
export type StartProblem = { error: WhetstoneError } & ({ agent: string } | { path: YamlPath });

/**
 * What these agents lack: a program, a variable, a key, a provider in the gateway. A run refuses to start with the first;
 * `dry-run` and `validate-config` show all. Starts nothing: the code of a module and the command of a key do not run.
 */
export async function startProblems(
  { gateway, sandbox }: Pick<Config, 'gateway'> & Partial<Pick<Config, 'sandbox'>>,
  agents: readonly AgentConfig[],
  environment: NodeJS.ProcessEnv,
): Promise<StartProblem[]> {
  const problems: StartProblem[] = [];
  // An engine enforces its limits itself, and says so when the sandboxes of the run start.
  const unlimited =
    sandbox && usesEngine(sandbox) ? undefined : await errorOf(() => limitsOf(sandbox?.limits));
  if (unlimited) problems.push({ path: ['sandbox', 'limits'], error: unlimited });
  for (const agent of agents) {
    const isSealed = sandbox !== undefined && sandbox.provider !== 'process' && sandbox.provider !== 'auto';
    if (isSealed && hasOwnSandbox(agent)) {
      problems.push({ agent: agent.name, error: nested(agent, sandbox.provider) });
    }
    // Our loop calls its model from outside, and a command need not call any.
    if (isSealed && agent.runner === 'driver' && !(gateway && leadsToGateway(agent))) {
      problems.push({ agent: agent.name, error: sealedOff(agent, sandbox.provider) });
    }
    const lacking = await agentProblems(agent, { environment, hasLanes: gateway !== undefined });
    problems.push(...lacking.map((error) => ({ agent: agent.name, error })));
  }
  const named = gateway?.mode !== 'script' ? gateway?.upstreams : undefined;
  const forwards = gateway?.mode === 'forward' || gateway?.mode === 'record';
  const forks = gateway?.mode === 'replay' && gateway.miss === 'fork';
  const keyed = agents.filter(needsKey);
  if (named && (forwards || forks) && keyed.length > 0) {
    problems.push(...(await upstreamProblems(named, keyed, environment)));
  }
  return problems;
}

const sealedOff = ({ name }: AgentConfig, provider: string): WhetstoneError =>
  new WhetstoneError(
    'sandbox-needs-gateway',
    `The agent ${name} does not use a gateway, and reaches nothing else from the sandbox ${provider}.`,
    { hint: 'Add `gateway: { mode: forward }`, or use `sandbox: process`.' },
  );

const nested = ({ name }: AgentConfig, provider: string): WhetstoneError =>
  new WhetstoneError(
    'sandbox-nested',
    `The agent ${name} confines its commands itself, which fails in the sandbox ${provider}.`,
    {
      hint: 'Set `permissions: { filesystem: full, shell: allow, network: open }`, or use `sandbox: process`.',
    },
  );

async function upstreamProblems(
  named: readonly UpstreamConfig[],
  agents: readonly AgentConfig[],
  environment: NodeJS.ProcessEnv,
): Promise<StartProblem[]> {
  const { chooseUpstreams } = await import('../gateway/choose-upstreams.ts');
  const { providers, readKey } = await import('@whetstone/gateway');
  const path = (provider: string) => ['gateway', 'upstreams', ...(named.length > 0 ? [provider] : [])];
  let upstreams: ReturnType<typeof chooseUpstreams> = {};
  const noneChosen = await errorOf(() => {
    upstreams = chooseUpstreams(named, environment);
  });
  if (noneChosen) return [{ path: ['gateway'], error: noneChosen }];
  const problems: StartProblem[] = [];
  for (const [name, { wires, keyVariables }] of Object.entries(providers)) {
    const [wire] = wires;
    const upstream = upstreams[wire];
    if (upstream) {
      const { key } = upstream;
      if (key === 'client' || 'command' in key) continue;
      const error = await errorOf(() => readKey(key, environment));
      if (error) problems.push({ path: path(name), error });
      continue;
    }
    for (const agent of agents.filter((one) => leadsToGateway(one) && providerOf(one, providers) === name)) {
      const message = `The agent ${agent.name} calls ${name}, and the gateway has no upstream for it.`;
      const hint = `Set ${keyVariables[0]}, or name ${name} and the source of its key in gateway.upstreams.`;
      const error = new WhetstoneError('upstream-missing', message, { where: `agents.${agent.name}`, hint });
      problems.push({ agent: agent.name, error });
    }
  }
  return problems;
}

/** The provider that an agent calls; `undefined` if only the agent knows it. */
function providerOf(
  agent: AgentConfig,
  providers: Readonly<Record<string, { wires: readonly string[] }>>,
): string | undefined {
  if (agent.runner === 'loop') return loopDefaults[agent.loop.profile].provider;
  if (agent.runner !== 'driver') return undefined;
  const { wire } = drivenAgentOf(agent).release;
  return Object.entries(providers).find(([, { wires }]) => wires.includes(wire))?.[0];
}

async function errorOf(check: () => unknown): Promise<WhetstoneError | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    if (error instanceof WhetstoneError) return error;
    throw error;
  }
}
