import { present } from '@whetstone/events/present';
export type TaskNotification = { callId: string; status: string; output?: string };

/** Reads the message in which a background sub-agent reports its end to the agent that started it. */
export function readTaskNotification(text: string): TaskNotification | undefined {
  if (!text.startsWith('<task-notification>')) return undefined;
  const callId = tagged(text, 'tool-use-id');
  if (callId === undefined) return undefined;
  const result = /<result>(.*)<\/result>/s.exec(text)?.[1];
  return { callId, status: tagged(text, 'status') ?? '', ...present({ output: result }) };
}

const tagged = (text: string, name: string): string | undefined =>
  new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(text)?.[1];
