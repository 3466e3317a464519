import type { JsonObject } from '@whetstone/events';
import type { ApprovalHook } from '../control/approval.ts';
import type { Hooks } from '../control/hooks.ts';

type Guards = { hooks: Hooks; approve: ApprovalHook | undefined };

/** The arguments of parked calls as `beforeTool` left them: who decides about a call decides about what was shown. */
export class ParkedArguments {
  readonly #byCall: Map<string, JsonObject>;

  constructor(kept: Readonly<Record<string, JsonObject>> = {}) {
    this.#byCall = new Map(Object.entries(kept));
  }

  /** The same guards, except that a call that was parked gets the arguments that `beforeTool` left then. */
  around({ hooks, approve }: Guards): Guards {
    const { beforeTool } = hooks;
    if (!beforeTool && this.#byCall.size === 0) return { hooks, approve };
    return {
      hooks: {
        ...hooks,
        beforeTool: (call) => {
          const args = this.#byCall.get(call.callId);
          this.#byCall.delete(call.callId);
          return args ? { args } : beforeTool?.(call);
        },
      },
      approve:
        approve &&
        (async (request) => {
          const decision = await approve(request);
          if (decision.decision === 'parked') this.#byCall.set(request.callId, request.args);
          return decision;
        }),
    };
  }

  /** The arguments of these calls, for a snapshot; `undefined` where none are kept. */
  of(callIds: readonly string[]): Record<string, JsonObject> | undefined {
    const kept = callIds.flatMap((callId) => {
      const args = this.#byCall.get(callId);
      return args ? [[callId, args] as const] : [];
    });
    return kept.length === 0 ? undefined : Object.fromEntries(kept);
  }
}
