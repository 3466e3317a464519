import type { EventEnvelope, JsonObject, StreamEvent } from '@whetstone/events';

/**
 * The skill whose `SKILL.md` a path or a shell command names. Agents without a skill tool load a skill by reading that
 * file, so reading it counts as using the skill.
 */
export function skillIn(text: string): string | undefined {
  return /([\w.-]+)\/SKILL\.md(?![\w.-])/.exec(text)?.[1];
}

/** The events of a skill that entered the conversation without its own tool call. */
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
