import type { JsonObject } from '@whetstone/events';
import type { ApprovalHook } from '../control/approval.ts';
import type { Hooks } from '../control/hooks.ts';

type Guards = { hooks: Hooks; approve: ApprovalHook | undefined };

/**
 * What `beforeTool` has made of the arguments of calls that were parked then. The hook speaks once about a call: whoever
 * decides later decides about what was shown to them, and a hook that counts or logs does so once.
 */
export class ParkedArguments {
  readonly #byCall: Map<string, JsonObject>;

  constructor(kept: Readonly<Record<string, JsonObject>> = {}) {
    this.#byCall = new Map(Object.entries(kept));
  }

  /** The same guards, but for `beforeTool` of a call that it has let through to an approval which was put off. */
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

  /** For a snapshot; `undefined` where there is nothing to keep. */
  of(callIds: readonly string[]): Record<string, JsonObject> | undefined {
    const kept = callIds.flatMap((callId) => {
      const args = this.#byCall.get(callId);
      return args ? [[callId, args] as const] : [];
    });
    return kept.length === 0 ? undefined : Object.fromEntries(kept);
  }
}
