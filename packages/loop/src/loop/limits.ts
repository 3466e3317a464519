import type { EndReason, LimitKind } from '../events/session-event.ts';
import type { LoopContext } from './loop-context.ts';

const REASONS: Readonly<Record<LimitKind, EndReason>> = {
  rounds: 'tool_rounds',
  turns: 'turns',
  tokens: 'tokens',
  cost: 'cost',
  wall_time: 'wall_time',
  loop_warnings: 'loop',
};

/** The limit that forbids another model call, if there is one. Emits `TURN_LIMIT` for it. */
export function reachedLimit(
  { config, history, meter, emit }: LoopContext,
  rounds: number,
): EndReason | undefined {
  const { maxToolRoundsPerInput, maxTurns } = config;
  const reached =
    maxToolRoundsPerInput > 0 && rounds >= maxToolRoundsPerInput
      ? { limit: 'rounds' as const, value: maxToolRoundsPerInput }
      : maxTurns > 0 && history.assistantTurns >= maxTurns
        ? { limit: 'turns' as const, value: maxTurns }
        : meter.reached();
  if (!reached) return undefined;
  emit('TURN_LIMIT', reached);
  return REASONS[reached.limit];
}
