import type { StreamEvent, StreamEventOf } from '@whetstone/events';

/** The skill whose `SKILL.md` a path or command names. Agents without a skill tool use a skill by reading it. */
export function skillIn(text: string): string | undefined {
  return /([\w.-]+)\/SKILL\.md(?![\w.-])/.exec(text)?.[1];
}

/** The events of a skill that entered the conversation without its own tool call. */
export const skillEvents = (
  callId: string,
  skill: string,
  status: StreamEventOf<'action.result'>['status'],
): StreamEvent[] => [
  { type: 'action.called', callId, name: 'load_skill', input: { skill } },
  { type: 'action.result', callId, status },
];
