import { isJsonObject, type StreamEvent, type StreamEventOf } from '@whetstone/events';
import { present } from '@whetstone/events/present';

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

/** Adds `skill.loaded` behind the completed result of each call of `load_skill`, whichever way its agent loads skills. */
export function withLoadedSkills(emit: (event: StreamEvent) => void): (event: StreamEvent) => void {
  const asked = new Map<string, string>();
  return (event) => {
    emit(event);
    if (event.type === 'action.called' && event.name === 'load_skill' && isJsonObject(event.input)) {
      if (typeof event.input.skill === 'string') asked.set(event.callId, event.input.skill);
    }
    if (event.type !== 'action.result') return;
    const { callId, status, at, parentCallId } = event;
    const skill = asked.get(callId);
    asked.delete(callId);
    if (skill === undefined || status !== 'completed') return;
    emit({ type: 'skill.loaded', skill, callId, ...present({ at, parentCallId }) });
  };
}
