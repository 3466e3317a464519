import type { JsonObject, StreamEvent } from '@whetstone/events';
import { objectIn, requiredText, textIn } from '../../kit/fields.ts';
import { skillEvents, skillIn } from '../../kit/skill-file.ts';
import { Collaboration } from './collaboration.ts';
import { calledEvent, fileEvents, resultEvent, statusOf, toolNameOf } from './items.ts';

/** The calls of a thread: each is called once, whether or not its start was reported, and ends once. */
export class CodexCalls {
  readonly #workdir: string | undefined;
  readonly #called = new Set<string>();
  readonly #collaboration: Collaboration;

  /** `subagents`, thread id → call id, gets all sub-agents. */
  constructor(workdir: string | undefined, subagents: Record<string, string>) {
    this.#workdir = workdir;
    this.#collaboration = new Collaboration(subagents);
  }

  /** The events of an item as `codex exec` prints it; `undefined` for an item that is not a call. */
  events(item: JsonObject, id: string, isDone: boolean): StreamEvent[] | undefined {
    const name = toolNameOf(item);
    if (name === undefined) return undefined;
    const events = this.#called.has(id) ? [] : [calledEvent(item, id, name)];
    this.#called.add(id);
    if (item.type === 'collab_tool_call' && item.tool === 'spawn_agent') {
      events.push(...this.#collaboration.started(id, 'agent'));
    }
    if (!isDone) return events;
    this.#called.delete(id);
    const result = resultEvent(item, id);
    // A refused patch changed nothing.
    const isPatch = item.type === 'file_change' && statusOf(item.status) === 'completed';
    const files = isPatch ? fileEvents(item, this.#workdir) : [];
    return [...events, ...this.#effects(item, id), result, ...files];
  }

  /** A sub-agent of the newer kind, which a thread starts without a call. */
  agentActivity({ kind, agentThreadId, agentPath }: JsonObject, id: string): StreamEvent[] {
    const thread = requiredText(agentThreadId);
    if (kind === 'started') {
      const events = this.#collaboration.started(id, textIn(agentPath) ?? 'agent');
      this.#collaboration.hasThread(id, thread);
      return events;
    }
    return this.#collaboration.ended({ [thread]: { status: textIn(kind) ?? '', message: null } });
  }

  #effects(item: JsonObject, id: string): StreamEvent[] {
    if (item.type === 'command_execution') {
      const skill = skillIn(requiredText(item.command));
      if (skill === undefined) return [];
      return skillEvents(
        `${id}/skill`,
        skill,
        statusOf(item.status) === 'completed' ? 'completed' : 'failed',
      );
    }
    if (item.type !== 'collab_tool_call') return [];
    if (item.tool === 'spawn_agent') {
      const threadId = Array.isArray(item.receiver_thread_ids) && textIn(item.receiver_thread_ids[0]);
      if (!threadId) return this.#collaboration.failed(id);
      this.#collaboration.hasThread(id, threadId);
    }
    return this.#collaboration.ended(objectIn(item.agents_states));
  }
}
