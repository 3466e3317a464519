import { isAbsolute, relative } from 'node:path';
import type { JsonValue, StreamEvent, StreamEventOf } from '@whetstone/events';
import { isUnder } from '@whetstone/sandbox';
import { objectsIn } from './fields.ts';

/** A message; no event for an empty text. */
export const messageEvents = (role: 'assistant' | 'user', text: string): StreamEvent[] =>
  text === '' ? [] : [{ type: 'message', role, text }];

/** Thinking; no event for an empty text, which stands for hidden or encrypted thinking. */
export const thinkingEvents = (text: string): StreamEvent[] =>
  text === '' ? [] : [{ type: 'thinking', text }];

type FileChange = StreamEventOf<'file.changed'>['change'];

/** What agents call the kinds of changes. */
const CHANGES: Readonly<Record<string, FileChange>> = {
  add: 'added',
  create: 'added',
  delete: 'deleted',
  move: 'renamed',
};

/** The change that an agent names; `modified` for any other name. */
export const changeNamed = (name: JsonValue | undefined): FileChange =>
  (typeof name === 'string' && Object.hasOwn(CHANGES, name) && CHANGES[name]) || 'modified';

export const fileChanged = (
  path: string,
  workdir: string | undefined,
  change: FileChange,
): StreamEventOf<'file.changed'> => ({ type: 'file.changed', path: workspacePath(path, workdir), change });

/** The path for an event: relative if it is in the workspace, otherwise unchanged. */
export function workspacePath(path: string, workdir: string | undefined): string {
  return workdir !== undefined && isAbsolute(path) && isUnder(workdir, path) ? relative(workdir, path) : path;
}

type PlanStep = StreamEventOf<'plan.updated'>['steps'][number];

/** A status that is unknown here, such as `blocked`, counts as pending. */
export const stepStatus = (status: JsonValue | undefined): PlanStep['status'] =>
  status === 'in_progress' || status === 'completed' ? status : 'pending';

/** The plan in a tool's list of steps, each with its text in `key`. A cancelled step leaves the plan. */
export const planSteps = (todos: JsonValue | undefined, key: 'content' | 'description'): PlanStep[] =>
  objectsIn(todos).flatMap(({ [key]: text, status }) =>
    typeof text === 'string' && status !== 'cancelled' ? [{ text, status: stepStatus(status) }] : [],
  );
