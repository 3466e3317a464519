import type { EventEnvelope, JsonObject, StreamEvent } from '@whetstone/events';

/**
 * The skill whose `SKILL.md` a path or a shell command names. Agents without a tool for skills load one by reading that
 * file, so a read of it is taken for its use.
 */
export function skillIn(text: string): string | undefined {
  return /([\w.-]+)\/SKILL\.md(?![\w.-])/.exec(text)?.[1];
}

/** A skill that came into the conversation by another way than a call of its own. */
export function skillEvents(
  callId: string,
  skill: string,
  status: 'completed' | 'failed' | 'rejected',
  envelope: EventEnvelope = {},
): StreamEvent[] {
  const input: JsonObject = { skill };
  return [
    { type: 'action.called', callId, name: 'load_skill', input, ...envelope },
    { type: 'action.result', callId, status, ...envelope },
  ];
}
