import { present } from '@whetstone/events/present';
import type { ApprovalHook } from '../control/approval.ts';
import type { ChildRequest, SessionSnapshot } from '../conversation/snapshot.ts';
import type { LoopContext } from '../loop/loop-context.ts';
import { scopeEnvironment } from '../subagents/scoped-environment.ts';
import type { SessionOptions } from './session-options.ts';

const MAX_TURNS = 50;

/**
 * The options of a subagent: what its parent has at this moment, except for what the parent asked for. A subagent
 * inherits the approval hook, the hooks around tools, the instructions and the environment. It does not inherit the
 * other hooks, and cannot ask the user.
 */
export async function childOptions(
  request: ChildRequest,
  parent: LoopContext,
  options: SessionOptions,
  kept?: SessionSnapshot,
): Promise<{ options: SessionOptions; model: string }> {
  const { subagents = {}, userInstructions, approve, hooks = {} } = options;
  const { resolveModel } = subagents;
  if (request.model !== undefined && !resolveModel)
    throw new Error(`Model ${request.model} is not available: the host offers no other models.`);
  const resolved = request.model === undefined ? undefined : await resolveModel?.(request.model);
  const model = resolved?.model ?? parent.model;
  const environment =
    request.workingDirectory === undefined
      ? parent.environment
      : await scopeEnvironment(parent.environment, request.workingDirectory);
  const { beforeTool, afterTool } = hooks;
  return {
    model: model.modelId,
    options: {
      profile: resolved?.profile ?? parent.profile,
      model,
      environment,
      config: {
        ...parent.config,
        maxTurns: request.maxTurns ?? subagents.maxTurns ?? MAX_TURNS,
        // A restored child keeps the effort that it had, whatever its parent has now.
        ...(kept && { reasoningEffort: kept.reasoningEffort }),
      },
      budget: present({ costUsd: subagents.costUsd }),
      hooks: present({ beforeTool, afterTool }),
      priceOf: parent.priceOf,
      subagents,
      clock: parent.clock,
      ...(approve && { approve: withoutParking(approve) }),
      ...present({ userInstructions }),
    },
  };
}

/** Denies where the hook parks: a parked call ends an input, and nobody could resume an input of a subagent. */
function withoutParking(approve: ApprovalHook): ApprovalHook {
  return async (request) => {
    const decision = await approve(request);
    if (decision.decision !== 'parked') return decision;
    return { decision: 'denied', reason: 'a call of a subagent cannot wait for a decision' };
  };
}
