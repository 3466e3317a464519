import type { z } from 'zod';
import type { spanBeginSchema, stepEventSchema } from './log-shapes.ts';

/** Where an event is: in a scorer, which is not the agent, or in a sub-agent. */
export type SpanScope = {
  scorer: boolean;
  /** The sub-agent that it belongs to, if any. */
  parentCallId: string | undefined;
  /** It is inside an agent or a tool, so an agent that starts here is a sub-agent. */
  insideAgent: boolean;
};

/** The spans of a transcript. The outermost span of type `agent` is the agent itself; those inside are its sub-agents. */
export class AgentSpans {
  readonly #scopes = new Map<string, SpanScope>();
  /** The tool call that started an agent, by the id of its span. */
  readonly #callers = new Map<string, string>();
  readonly #subagents = new Map<string, { callId: string; outside: SpanScope }>();

  /** How many scorers are open, in a log with steps instead of spans. */
  #scorerSteps = 0;

  scopeOf(spanId: string | null | undefined): SpanScope {
    const scope = spanId == null ? undefined : this.#scopes.get(spanId);
    return scope ?? { scorer: this.#scorerSteps > 0, parentCallId: undefined, insideAgent: false };
  }

  step({ action, type }: z.infer<typeof stepEventSchema>): void {
    if (!isScorer(type)) return;
    this.#scorerSteps = Math.max(0, this.#scorerSteps + (action === 'begin' ? 1 : -1));
  }

  /** A tool event that started an agent comes before the agent's span. */
  startedBy(spanId: string, callId: string): void {
    this.#callers.set(spanId, callId);
  }

  /** @returns the `callId` and the place of the sub-agent that starts with this span, if any. */
  begin(span: z.infer<typeof spanBeginSchema>): { callId: string; outside: SpanScope } | undefined {
    const outside = this.scopeOf(span.parent_id ?? span.span_id);
    const isAgent = span.type === 'agent';
    const caller = this.#callers.get(span.id);
    const isSubagent = isAgent && (outside.insideAgent || caller !== undefined);
    const callId = caller ?? span.id;
    this.#scopes.set(span.id, {
      scorer: outside.scorer || isScorer(span.type ?? span.name),
      parentCallId: isSubagent ? callId : outside.parentCallId,
      insideAgent: outside.insideAgent || isAgent || span.type === 'tool',
    });
    if (!isSubagent) return undefined;
    this.#subagents.set(span.id, { callId, outside });
    return { callId, outside };
  }

  /** @returns the same as `begin`, for the sub-agent that ends with this span. */
  end(spanId: string): { callId: string; outside: SpanScope } | undefined {
    const subagent = this.#subagents.get(spanId);
    this.#subagents.delete(spanId);
    return subagent;
  }
}

/** Inspect's own names of the phase and its parts. A span without a type uses its name as type. */
function isScorer(type: string | null | undefined): boolean {
  return type === 'scorers' || type === 'scorer';
}
