import type { JsonObject, JsonValue, StreamEvent, StreamEventOf } from '@whetstone/events';
import { objectIn, objectsIn, textIn } from '../../kit/fields.ts';
import { stepStatus } from '../../kit/mapped-events.ts';
import type { ToolOutcome } from './tool-calls.ts';

const TOOLS = new Set(['TaskCreate', 'TaskUpdate', 'TaskList']);

/**
 * The plan that the tools `TaskCreate`, `TaskUpdate` and `TaskList` maintain. A resumed session has tasks that this
 * turn's stream does not report; they are missing from the plan until the agent lists them.
 */
export class TaskPlan {
  readonly #tasks = new Map<string, StreamEventOf<'plan.updated'>['steps'][number]>();
  readonly #open = new Map<string, { name: string; input: JsonObject }>();

  called(callId: string, name: string, input: JsonValue): void {
    if (TOOLS.has(name)) this.#open.set(callId, { name, input: objectIn(input) ?? {} });
  }

  /** The new plan, if a call of these tools changed it. `details`: what the agent reports besides the text. */
  result({ callId, output, status }: ToolOutcome, details: JsonValue | undefined): StreamEvent[] {
    const call = this.#open.get(callId);
    this.#open.delete(callId);
    if (!call || status !== 'completed' || !this.#apply(call, output, objectIn(details) ?? {})) return [];
    return [{ type: 'plan.updated', steps: [...this.#tasks.values()] }];
  }

  #apply(
    { name, input }: { name: string; input: JsonObject },
    output: JsonValue | undefined,
    details: JsonObject,
  ): boolean {
    switch (name) {
      case 'TaskCreate': {
        const id =
          textIn(objectIn(details.task)?.id) ?? /^Task #(\S+) created/.exec(textIn(output) ?? '')?.[1];
        const text = textIn(input.subject);
        if (id === undefined || text === undefined) return false;
        this.#tasks.set(id, { text, status: 'pending' });
        return true;
      }
      case 'TaskUpdate': {
        const id = textIn(input.taskId) ?? '';
        const task = this.#tasks.get(id);
        if (!task) return false;
        if (input.status === 'deleted') return this.#tasks.delete(id);
        this.#tasks.set(id, {
          text: textIn(input.subject) ?? task.text,
          status: input.status === undefined ? task.status : stepStatus(input.status),
        });
        return true;
      }
      case 'TaskList': {
        const before = JSON.stringify([...this.#tasks]);
        if (!Array.isArray(details.tasks)) return false;
        this.#tasks.clear();
        for (const { id, subject, status } of objectsIn(details.tasks)) {
          if (typeof id !== 'string' || typeof subject !== 'string') continue;
          this.#tasks.set(id, { text: subject, status: stepStatus(status) });
        }
        return JSON.stringify([...this.#tasks]) !== before;
      }
      default:
        return false;
    }
  }
}
