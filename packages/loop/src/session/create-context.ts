import { SpendMeter } from '../control/budget.ts';
import { systemClock } from '../control/clock.ts';
import { resolveSessionConfig } from '../control/session-config.ts';
import { History } from '../conversation/history.ts';
import type { SessionEventData } from '../events/session-event.ts';
import type { LoopContext } from '../loop/loop-context.ts';
import { LoopDetector } from '../loop/loop-detector.ts';
import { catalogPriceOf } from '../profiles/model-catalog.ts';
import type { SessionTools } from '../tools/session-tools.ts';
import type { SessionOptions, SessionOrigin } from './session-options.ts';

type Own = Pick<LoopContext, 'sessionId' | 'emit' | 'hooks' | 'approve' | 'steering' | 'preamble'> & {
  tools: (maxSubagentDepth: number) => SessionTools;
};

/** What the loop of a new or restored session works on. Throws a `WhetstoneError` for a setting that does not exist or fit. */
export function createContext(
  { profile, environment, model, clock = systemClock, priceOf = catalogPriceOf, ...options }: SessionOptions,
  { snapshot, parent }: SessionOrigin,
  { tools, ...own }: Own,
): LoopContext {
  const { reasoningEffort = snapshot?.reasoningEffort, ...given } = options.config ?? {};
  const config = resolveSessionConfig({ ...given, reasoningEffort });
  const history = new History(clock.now, snapshot?.turns, { open: snapshot?.parked !== undefined });
  return {
    ...own,
    history,
    environment,
    clock,
    loopDetector: new LoopDetector(config.loopDetectionWindow),
    priceOf,
    meter: new SpendMeter(options.budget, parent?.meter, snapshot?.spent),
    announced: new Set(),
    parked: history.openCalls().length === 0 ? undefined : snapshot?.parked,
    outputSchema: snapshot?.outputSchema,
    foreignTurns: snapshot?.foreignTurns ?? 0,
    config,
    profile,
    model,
    tools: tools(config.maxSubagentDepth),
  };
}

/** The data of `SESSION_START`. */
export function sessionStart(
  { profile, environment, model }: SessionOptions,
  { snapshot }: SessionOrigin,
): SessionEventData['SESSION_START'] {
  return {
    profile: profile.id,
    provider: model.provider,
    model: model.modelId,
    workingDirectory: environment.workingDirectory(),
    ...(snapshot && { restored: true }),
  };
}
