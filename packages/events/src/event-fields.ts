import type { StreamEventOf, StreamEventType } from './stream-event.ts';

/** Any value, or one of these words. */
type FieldValues<Value> = [Value] extends [string | undefined]
  ? string extends Value
    ? true
    : readonly NonNullable<Value>[]
  : true;

type Envelope = 'type' | 'at' | 'turn' | 'source' | 'parentCallId';

type FieldsOf<Type extends StreamEventType> = {
  [Field in Exclude<keyof StreamEventOf<Type>, Envelope>]-?: FieldValues<StreamEventOf<Type>[Field]>;
};

const text = true;
const any = true;

/** The fields of each type of event besides those that every event has. The compiler holds them to the schema. */
const OWN_FIELDS: { [Type in StreamEventType]: FieldsOf<Type> } = {
  message: { role: ['assistant', 'user'], text },
  'action.called': { callId: text, name: text, input: any },
  'action.result': { callId: text, output: any, status: ['completed', 'failed', 'rejected'] },
  'subagent.called': { callId: text, name: text, remoteUrl: text },
  'subagent.completed': { callId: text, output: any, status: ['completed', 'failed'] },
  'input.requested': { request: any },
  thinking: { text },
  error: { message: text },
  'session.started': {
    ...{ sessionId: text, runtime: text, runtimeVersion: text, model: text, workingDir: text },
    ...{ resumed: any, plugins: any },
  },
  usage: { usage: any, calls: any, model: text, costUsd: any, latencyMs: any },
  'file.changed': { path: text, change: ['added', 'modified', 'deleted', 'renamed'], from: text },
  'approval.requested': { callId: text, name: text, reason: text },
  'approval.decided': {
    callId: text,
    decision: ['approved', 'denied'],
    by: ['user', 'policy', 'agent'],
    rule: text,
  },
  compaction: { summary: text, droppedMessages: any },
  'skill.loaded': { skill: text, callId: text },
  'plan.updated': { steps: any },
  raw: { native: any },
};

type FieldTable = Readonly<Record<string, true | readonly string[]>>;

const SHARED_FIELDS: FieldTable = {
  ...{ type: any, at: text, turn: any, parentCallId: text },
  source: ['agent', 'gateway', 'host'],
};

/** The types of events, in the order of their schema. Known without loading the schema. */
export const EVENT_TYPES = Object.keys(OWN_FIELDS) as readonly StreamEventType[];

/** The fields that an event of this type may have; `true`: any value of its kind, else one of these words. */
export const eventFields = (type: StreamEventType): FieldTable => ({
  ...SHARED_FIELDS,
  ...OWN_FIELDS[type],
});
