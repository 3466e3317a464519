import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { builtInTool } from '../built-in-tool.ts';
import { type Arguments, listOf, oneOf, optional, record, text } from '../parameters.ts';
import { sessionState } from '../session-state.ts';
import type { ToolContext, ToolOutput } from '../tool.ts';

type Task = {
  id: string;
  subject: string;
  description: string;
  activeForm?: string;
  status: 'pending' | 'in_progress' | 'completed';
  owner?: string;
  metadata: JsonObject;
  /** Ids of the tasks that have to be done before. */
  blockedBy: Set<string>;
};

type TaskList = { tasks: Map<string, Task>; created: number };

/** The tasks of a session, in memory: a restored session begins with none. The host gets them as `details.plan`. */
const listOfTasks = sessionState((): TaskList => ({ tasks: new Map(), created: 0 }));

const TASK_ID = text('The ID that TaskCreate gave');
const SUBJECT = text('What is to be done, as a short order', { minLength: 1 });
const DESCRIPTION = text('What belongs to it, in detail');
const ACTIVE_FORM = optional(text('The subject while it is being done'));

export const taskCreateTool = builtInTool({
  name: 'TaskCreate',
  description: 'Adds a task to the list of what is to be done. It is pending at first.',
  parameters: {
    subject: SUBJECT,
    description: DESCRIPTION,
    activeForm: ACTIVE_FORM,
    metadata: optional(record('Anything to keep with it')),
  },
  guidance: 'for work of several steps, one task per step; keep their states up to date with TaskUpdate.',
  executor: ({ subject, description, activeForm, metadata = {} }, context) => {
    const list = listOfTasks(context);
    list.created += 1;
    const id = String(list.created);
    const fields = { subject, description, ...present({ activeForm }), metadata };
    list.tasks.set(id, { id, ...fields, status: 'pending', blockedBy: new Set() });
    return withPlan(`Created task ${id}: ${subject}`, list);
  },
});

export const taskGetTool = builtInTool({
  name: 'TaskGet',
  description: 'Shows a task whole: its description, its state, what blocks it and what it blocks.',
  parameters: { taskId: TASK_ID },
  executor: ({ taskId }, context) => {
    const list = listOfTasks(context);
    return describeTask(findTask(list, taskId), list);
  },
});

export const taskListTool = builtInTool({
  name: 'TaskList',
  description: 'Lists all tasks with their states and what blocks them.',
  parameters: {},
  exemptFromLoopDetection: true,
  executor: (_args, context) => {
    const list = listOfTasks(context);
    const rows = [...list.tasks.values()].map((task) => {
      const open = openBlockers(task, list);
      const blocked = open.length === 0 ? '' : ` (blocked by ${open.join(', ')})`;
      return `${task.id}. [${task.status}] ${task.subject}${task.owner ? ` (${task.owner})` : ''}${blocked}`;
    });
    return rows.join('\n') || 'There are no tasks.';
  },
});

const updateParameters = {
  taskId: TASK_ID,
  subject: optional(SUBJECT),
  description: optional(DESCRIPTION),
  activeForm: ACTIVE_FORM,
  status: optional(
    oneOf(['pending', 'in_progress', 'completed', 'deleted'], 'deleted takes the task off the list'),
  ),
  addBlocks: optional(listOf(text(), 'Tasks that cannot begin before this one is completed')),
  addBlockedBy: optional(listOf(text(), 'Tasks that have to be completed before this one')),
  owner: optional(text('Who works on it')),
  metadata: optional(record('Keys to set; null takes a key away')),
};

export const taskUpdateTool = builtInTool({
  name: 'TaskUpdate',
  description: 'Changes a task: its state, its text, what it blocks and what blocks it.',
  parameters: updateParameters,
  executor: updateTask,
});

function updateTask(args: Arguments<typeof updateParameters>, context: ToolContext): ToolOutput {
  const list = listOfTasks(context);
  const { taskId, status, addBlocks = [], addBlockedBy = [], metadata, ...fields } = args;
  const task = findTask(list, taskId);
  if (status === 'deleted') {
    list.tasks.delete(taskId);
    for (const { blockedBy } of list.tasks.values()) blockedBy.delete(taskId);
    return withPlan(`Deleted task ${taskId}.`, list);
  }
  // All names are looked up before anything changes.
  const blocked = addBlocks.map((id) => findTask(list, id));
  const blockers = addBlockedBy.map((id) => findTask(list, id));
  if ([...blocked, ...blockers].includes(task)) throw new Error('a task cannot block itself');
  Object.assign(task, present({ ...fields, status }));
  const merged = Object.entries({ ...task.metadata, ...metadata }).filter(([, value]) => value !== null);
  task.metadata = Object.fromEntries(merged);
  for (const { blockedBy } of blocked) blockedBy.add(taskId);
  for (const { id } of blockers) task.blockedBy.add(id);
  return withPlan(`Updated task ${taskId}: [${task.status}] ${task.subject}`, list);
}

function findTask({ tasks }: TaskList, id: string): Task {
  const task = tasks.get(id);
  if (!task) throw new Error(`there is no task ${id}. Tasks: ${[...tasks.keys()].join(', ') || 'none'}`);
  return task;
}

function openBlockers({ blockedBy }: Task, { tasks }: TaskList): string[] {
  return [...blockedBy].filter((id) => tasks.get(id)?.status !== 'completed');
}

function describeTask(task: Task, list: TaskList): string {
  const { id, subject, description, status, owner, metadata, blockedBy } = task;
  const blocks = [...list.tasks.values()].filter((other) => other.blockedBy.has(id));
  return [
    `Task ${id}: ${subject}`,
    `Status: ${status}`,
    ...(owner === undefined ? [] : [`Owner: ${owner}`]),
    `Description: ${description}`,
    ...(blockedBy.size === 0 ? [] : [`Blocked by: ${[...blockedBy].join(', ')}`]),
    ...(blocks.length === 0 ? [] : [`Blocks: ${blocks.map((other) => other.id).join(', ')}`]),
    ...(Object.keys(metadata).length === 0 ? [] : [`Metadata: ${JSON.stringify(metadata)}`]),
  ].join('\n');
}

function withPlan(content: string, { tasks }: TaskList): ToolOutput {
  const plan = [...tasks.values()].map(({ subject, status }) => ({ step: subject, status }));
  return { content, details: { plan } };
}
