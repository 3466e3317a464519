import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { sessionState } from '../session-state.ts';
import { defineTool, type RegisteredTool, type ToolContext, type ToolOutput } from '../tool.ts';

type Status = 'pending' | 'in_progress' | 'completed';

type Task = {
  id: string;
  subject: string;
  description: string;
  activeForm?: string;
  status: Status;
  owner?: string;
  metadata: JsonObject;
  /** Ids of the tasks that have to be done before. */
  blockedBy: Set<string>;
};

type TaskList = { tasks: Map<string, Task>; created: number };

/**
 * What is to be done, a task a call. The list lives in memory with the session; a restored or forked one begins with an
 * empty list. The host gets all of it as `details.plan`, as from the plan tools of the other families.
 */
const listOf = sessionState((): TaskList => ({ tasks: new Map(), created: 0 }));

const TASK_ID = { type: 'string', description: 'The ID that TaskCreate gave' };
const SUBJECT = { type: 'string', minLength: 1, description: 'What is to be done, as a short order' };
const DESCRIPTION = { type: 'string', description: 'What belongs to it, in detail' };
const ACTIVE_FORM = { type: 'string', description: 'The subject while it is being done' };
const METADATA = { type: 'object', description: 'Anything to keep with it' };
const ids = (description: string) => ({ type: 'array', items: { type: 'string' }, description });

type TaskFields = Partial<Pick<Task, 'subject' | 'description' | 'activeForm' | 'owner' | 'metadata'>>;

export function taskCreateTool(): RegisteredTool {
  return defineTool<TaskFields & { subject: string; description: string }>({
    definition: {
      name: 'TaskCreate',
      description: 'Adds a task to the list of what is to be done. It is pending at first.',
      parameters: {
        type: 'object',
        properties: {
          subject: SUBJECT,
          description: DESCRIPTION,
          activeForm: ACTIVE_FORM,
          metadata: METADATA,
        },
        required: ['subject', 'description'],
      },
    },
    guidance: 'for work of several steps, a task a step; keep their states up to date with TaskUpdate.',
    executor: ({ subject, description, activeForm, metadata = {} }, context) => {
      const list = listOf(context);
      list.created += 1;
      const id = String(list.created);
      list.tasks.set(id, {
        id,
        subject,
        description,
        ...present({ activeForm }),
        status: 'pending',
        metadata,
        blockedBy: new Set(),
      });
      return withPlan(`Created task ${id}: ${subject}`, list);
    },
  });
}

export function taskGetTool(): RegisteredTool {
  return defineTool<{ taskId: string }>({
    definition: {
      name: 'TaskGet',
      description: 'Shows a task whole: its description, its state, what blocks it and what it blocks.',
      parameters: { type: 'object', properties: { taskId: TASK_ID }, required: ['taskId'] },
    },
    executor: ({ taskId }, context) => describeTask(findTask(listOf(context), taskId), listOf(context)),
  });
}

export function taskListTool(): RegisteredTool {
  return defineTool<Record<string, never>>({
    definition: {
      name: 'TaskList',
      description: 'Lists all tasks with their states and what blocks them.',
      parameters: { type: 'object', properties: {} },
    },
    exemptFromLoopDetection: true,
    executor: (_args, context) => {
      const list = listOf(context);
      const rows = [...list.tasks.values()].map((task) => {
        const open = openBlockers(task, list);
        const blocked = open.length === 0 ? '' : ` (blocked by ${open.join(', ')})`;
        return `${task.id}. [${task.status}] ${task.subject}${task.owner ? ` (${task.owner})` : ''}${blocked}`;
      });
      return rows.join('\n') || 'There are no tasks.';
    },
  });
}

type TaskUpdateArguments = TaskFields & {
  taskId: string;
  status?: Status | 'deleted';
  addBlocks?: string[];
  addBlockedBy?: string[];
};

export function taskUpdateTool(): RegisteredTool {
  return defineTool<TaskUpdateArguments>({
    definition: {
      name: 'TaskUpdate',
      description: 'Changes a task: its state, its text, what it blocks and what blocks it.',
      parameters: {
        type: 'object',
        properties: {
          taskId: TASK_ID,
          subject: SUBJECT,
          description: DESCRIPTION,
          activeForm: ACTIVE_FORM,
          status: {
            type: 'string',
            enum: ['pending', 'in_progress', 'completed', 'deleted'],
            description: 'deleted takes the task off the list',
          },
          addBlocks: ids('Tasks that cannot begin before this one is completed'),
          addBlockedBy: ids('Tasks that have to be completed before this one'),
          owner: { type: 'string', description: 'Who works on it' },
          metadata: { ...METADATA, description: 'Keys to set; null takes a key away' },
        },
        required: ['taskId'],
      },
    },
    executor: updateTask,
  });
}

function updateTask(args: TaskUpdateArguments, context: ToolContext): ToolOutput {
  const list = listOf(context);
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
  const { subject = task.subject, description = task.description, activeForm, owner } = fields;
  Object.assign(task, { subject, description });
  if (activeForm !== undefined) task.activeForm = activeForm;
  if (owner !== undefined) task.owner = owner;
  if (status !== undefined) task.status = status;
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

/** Those that are not completed. */
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
