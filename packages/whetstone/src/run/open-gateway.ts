import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { learnSecret, needsKey } from '@whetstone/agents/evaluator';
import { WhetstoneError } from '@whetstone/errors';
import type { Budget, GatewayOptions, LaneMode, LaneOptions } from '@whetstone/gateway';
import type { JudgeKind, LabGateway } from '../attempt/lab.ts';
import type { BudgetConfig, Config, GatewayConfig } from '../config/config.ts';
import { readFault } from '../config/read-fault.ts';
import { inPlan, type PlannedCase } from '../plan/plan.ts';
import { makeOutputFolder } from '../record/unwritable.ts';
import type { PlannedRun } from './plan-or-resume.ts';
import { usedBefore } from './used-before.ts';

/** The gateway of a run, listening. Disposing closes it. */
export type RunGateway = LabGateway & AsyncDisposable;

/**
 * Opens the gateway if there is one. Only then loads its package, which is half of what a run would load.
 * @throws WhetstoneError `script-invalid`, `upstream-missing`, `cassette-exists`, `cassette-missing`
 */
export async function openGateway(
  { gateway, agents }: Pick<Config, 'gateway' | 'agents'>,
  plannedRun: PlannedRun,
): Promise<RunGateway | undefined> {
  if (!gateway) return undefined;
  await checkCassettes(gateway, plannedRun);
  const { createGateway } = await import('@whetstone/gateway');
  const needsKeys = inPlan(agents, plannedRun.plan.agents).some(needsKey);
  const modeOf = await modesOf(gateway, plannedRun.plan.seed, needsKeys);
  const shared = {
    faults: gateway.faults.map(readFault),
    ...(gateway.budget && { budget: toBudget(gateway.budget) }),
    ...allowed(gateway),
  };
  const { resumed } = plannedRun;
  const server = await createGateway({
    ...gatewayOptions(gateway),
    ...(resumed && gateway.runBudget && { used: usedBefore(resumed) }),
  });
  return {
    server,
    mode: gateway.mode,
    keepsExchanges: gateway.keepExchanges ?? true,
    laneOf: async (planned, names) => ({ mode: await modeOf(planned, names), ...shared }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

type ModeOf = (
  planned: Pick<PlannedCase, 'id'>,
  names: Readonly<Record<string, string>>,
) => LaneMode | Promise<LaneMode>;

/** What the names of the cassettes of a judge end with. */
export const JUDGE: Record<JudgeKind, string> = { model: '.judge', agent: '.judge-agent' };

/** `suffix`: what the names of the cassettes end with. */
export async function modesOf(
  gateway: GatewayConfig,
  seed: string,
  needsKeys: boolean,
  suffix = '',
): Promise<ModeOf> {
  if (gateway.mode === 'script') {
    const { loadScript } = await import('@whetstone/gateway');
    const script = await loadScript(gateway.script);
    return () => ({ kind: 'script', script, seed });
  }
  const { chooseUpstreams: choose } = await import('../gateway/choose-upstreams.ts');
  // Agents that sign in themselves need no key of the gateway.
  const chooseUpstreams = (named: Parameters<typeof choose>[0]) => (needsKeys ? choose(named) : {});
  switch (gateway.mode) {
    case 'forward': {
      const upstreams = chooseUpstreams(gateway.upstreams);
      return () => ({ kind: 'forward', upstreams });
    }
    case 'record': {
      const upstreams = chooseUpstreams(gateway.upstreams);
      await makeOutputFolder(gateway.cassettes, '`gateway.cassettes`');
      return async (planned, names) => {
        const cassette = cassetteOf(gateway.cassettes, planned, suffix);
        // A file that is there comes from an earlier attempt and is half a recording.
        await rm(cassette, { force: true });
        return { kind: 'record', upstreams, cassette, names };
      };
    }
    case 'replay': {
      const { cassettes, miss, timing } = gateway;
      const missing = miss === 'fork' ? { miss, upstreams: chooseUpstreams(gateway.upstreams) } : { miss };
      return (planned, names) => ({
        kind: 'replay',
        cassette: cassetteOf(cassettes, planned, suffix),
        names,
        timing,
        ...missing,
      });
    }
  }
}

/**
 * Checks, before anything runs, that recording would not replace a cassette, and that replay has all cassettes.
 * @throws WhetstoneError `cassette-exists`, `cassette-missing`
 */
export async function checkCassettes(
  gateway: GatewayConfig | undefined,
  { plan, resumed }: PlannedRun,
): Promise<void> {
  if (!gateway) return;
  if (gateway.mode !== 'record' && gateway.mode !== 'replay') return;
  const recorded = new Set(await readdir(gateway.cassettes).catch(() => []));
  const files = (suffix?: string) =>
    plan.cases.map((planned) => basename(cassetteOf(gateway.cassettes, planned, suffix)));
  // Not every case is judged by a model, so a recording of the judge need not be there.
  const wrong =
    gateway.mode === 'record'
      ? [...files(), ...files(JUDGE.model), ...files(JUDGE.agent)].filter((file) => recorded.has(file))
      : files().filter((file) => !recorded.has(file));
  const [first] = wrong;
  if (first === undefined || (gateway.mode === 'record' && resumed)) return;
  const where = join(gateway.cassettes, first);
  throw gateway.mode === 'record'
    ? new WhetstoneError('cassette-exists', `${wrong.length} cases have a recording already.`, { where })
    : new WhetstoneError('cassette-missing', `${wrong.length} cases have no recording.`, { where });
}

/** Named after the case only, so that a cassette is found again when the plan gets other cases. */
const cassetteOf = (folder: string, { id }: Pick<PlannedCase, 'id'>, suffix = ''): string =>
  join(folder, `${id}${suffix}.jsonl`);

const toBudget = ({ minutes, ...limits }: BudgetConfig): Budget => ({
  ...limits,
  ...(minutes !== undefined && { wallMs: minutes * 60_000 }),
});

export function gatewayOptions(gateway: GatewayConfig): GatewayOptions {
  const callsAtOnce = gateway.mode === 'script' ? undefined : gateway.callsAtOnce;
  return {
    // Keys in files and of commands are in no variable that is known beforehand.
    onKey: learnSecret,
    ...(gateway.runBudget && { budget: toBudget(gateway.runBudget) }),
    ...(callsAtOnce !== undefined && { rate: { most: callsAtOnce } }),
  };
}

function allowed(gateway: GatewayConfig): Pick<LaneOptions, 'allowProviderTools' | 'allowEndpoints'> {
  if (gateway.mode === 'script') return {};
  const { providerTools, allowEndpoints } = gateway;
  return { ...(providerTools !== false && { allowProviderTools: providerTools }), allowEndpoints };
}
