import type { AgentFacts, JsonValue } from '@whetstone/events';

/** The modes of the agents in which every call is allowed without a question. */
const ALLOWS_ALL = new Set<JsonValue | undefined>(['bypassPermissions', 'yolo']);

/** The approval policy behind the mode that an agent reports, and its own word for it. */
export function approvalPolicyIn(mode: JsonValue | undefined): Pick<AgentFacts, 'approvalPolicy' | 'own'> {
  if (typeof mode !== 'string') return {};
  const word = mode.slice(0, 100);
  return { approvalPolicy: ALLOWS_ALL.has(mode) ? 'never' : word, own: { approvalPolicy: word } };
}
