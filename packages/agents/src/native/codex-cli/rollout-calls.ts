import { type JsonObject, type JsonValue, jsonOrText, type StreamEvent } from '@whetstone/events';
import { objectIn, objectsIn, requiredText, textIn } from '../../kit/fields.ts';
import { changeNamed, fileChanged, workspacePath } from '../../kit/mapped-events.ts';
import { skillEvents, skillIn } from '../../kit/skill-file.ts';
import { Collaboration } from './collaboration.ts';
import { statusOf } from './items.ts';
import { shellCommand } from './shell-command.ts';

/** The result of a finished item, which is more exact than the text for the model. */
type Outcome = { status: ReturnType<typeof statusOf>; output?: JsonValue };

/**
 * The calls of a rollout. A rollout reports each call up to three times: the model's call, the item that Codex made of
 * it, and the text that the model got back. The first becomes the call, the last becomes the result, with the data of
 * the item. Calls from inside a code mode script have only the item.
 */
export class RolloutCalls {
  readonly #collaboration: Collaboration;
  readonly #workdir: string | undefined;
  readonly #open = new Map<string, Outcome | undefined>();

  /** `threads` gets the thread of each sub-agent, with the id of its call. */
  constructor(workdir: string | undefined, threads: Record<string, string>) {
    this.#workdir = workdir;
    this.#collaboration = new Collaboration(threads);
  }

  /** `function_call` has its arguments as JSON text; `custom_tool_call` has free text as its input. */
  called(item: JsonObject): StreamEvent[] {
    const callId = requiredText(item.call_id);
    const tool = requiredText(item.name);
    const input = item.arguments === undefined ? (item.input ?? null) : parsedArguments(item.arguments);
    this.#open.set(callId, undefined);
    const name = typeof item.namespace === 'string' ? namespaced(item.namespace, tool) : tool;
    const child = tool === 'spawn_agent' ? this.#collaboration.started(callId, childName(input)) : [];
    return [{ type: 'action.called', callId, name, input }, ...child];
  }

  /** `function_call_output` and `custom_tool_call_output`. */
  returned(item: JsonObject): StreamEvent[] {
    const callId = requiredText(item.call_id);
    const text = textIn(item.output) ?? textIn(objectIn(item.output)?.content) ?? '';
    const status = REJECTED.test(text) ? 'rejected' : 'completed';
    const outcome = { status, output: item.output ?? null, ...this.#open.get(callId) } as const;
    this.#open.delete(callId);
    return [{ type: 'action.result', callId, ...outcome }];
  }

  /** `item_completed` of a call; `undefined` for an item that is not a call or is unknown. */
  completed(item: JsonObject): StreamEvent[] | undefined {
    const id = requiredText(item.id);
    switch (item.type) {
      case 'CommandExecution': {
        const command = shellCommand(item.command);
        const exitCode = typeof item.exit_code === 'number' && { exitCode: item.exit_code };
        const output = { output: textIn(item.aggregated_output) ?? '', ...exitCode };
        const status = statusOf(item.status);
        const skill = skillIn(command);
        return [
          ...this.#finished(id, 'command_execution', { command }, { status, output }),
          ...(skill === undefined ? [] : skillEvents(`${id}/skill`, skill, status)),
        ];
      }
      case 'McpToolCall': {
        const name = `mcp__${requiredText(item.server)}__${requiredText(item.tool)}`;
        const outcome = { status: statusOf(item.status), output: item.result ?? item.error ?? null };
        return this.#finished(id, name, item.arguments ?? {}, outcome);
      }
      case 'FileChange': {
        const status = statusOf(item.status);
        const output = textIn(status === 'completed' ? item.stdout : item.stderr) ?? '';
        const changes = objectIn(item.changes) ?? {};
        const called = this.#finished(id, 'apply_patch', changes, { status, output });
        return status === 'completed' ? [...called, ...this.#fileEvents(changes)] : called;
      }
      case 'CollabAgentToolCall':
        return this.#collaborated(id, item);
      case 'SubAgentActivity': {
        const threadId = requiredText(item.agent_thread_id);
        if (item.kind !== 'started') return this.#collaboration.ended({ [threadId]: item.kind ?? null });
        this.#collaboration.hasThread(id, threadId);
        return this.#collaboration.started(id, textIn(item.agent_path) ?? 'agent');
      }
      default:
        return undefined;
    }
  }

  /** Keeps the outcome for a call of the model until its answer comes. A call from a script gets its events here. */
  #finished(callId: string, name: string, input: JsonValue, outcome: Outcome): StreamEvent[] {
    if (!this.#open.has(callId)) return hostedCall(callId, name, input, outcome);
    this.#open.set(callId, outcome);
    return [];
  }

  #fileEvents(changes: JsonObject): StreamEvent[] {
    return Object.entries(changes).map(([path, value]): StreamEvent => {
      const change = objectIn(value);
      const moved = textIn(change?.move_path);
      if (moved === undefined) return fileChanged(path, this.#workdir, changeNamed(change?.type));
      return {
        ...fileChanged(moved, this.#workdir, 'renamed'),
        from: workspacePath(path, this.#workdir),
      };
    });
  }

  #collaborated(id: string, item: JsonObject): StreamEvent[] {
    const tool = requiredText(item.tool);
    const states = objectIn(item.agents_states);
    const hasStates = states !== undefined && Object.keys(states).length > 0;
    const outcome = { status: statusOf(item.status), ...(hasStates && { output: states }) };
    const called = this.#finished(id, tool, { prompt: item.prompt ?? null }, outcome);
    if (tool !== 'spawn_agent') return [...called, ...this.#collaboration.ended(states)];
    const [receiver] = objectsIn(item.receiver_agents);
    const threadId = textIn(receiver?.thread_id);
    const started = this.#collaboration.started(id, textIn(receiver?.agent_nickname) ?? 'agent');
    if (threadId === undefined) return [...called, ...started, ...this.#collaboration.failed(id)];
    this.#collaboration.hasThread(id, threadId);
    return [...called, ...started, ...this.#collaboration.ended(states)];
  }
}

/** A call and its result at once, because the provider or a script ran it, or Codex reports no separate result. */
export const hostedCall = (
  callId: string,
  name: string,
  input: JsonValue,
  outcome: Outcome,
): StreamEvent[] => [
  { type: 'action.called', callId, name, input },
  { type: 'action.result', callId, ...outcome },
];

/** What the model reads if a rule, the user or a reviewer refused a command. Such a command has no item. */
const REJECTED = /^\w+ failed: [\s\S]*Rejected\(/;

/** The namespace of an MCP tool is `mcp__<server>`. Other namespaces add nothing to the name. */
const namespaced = (namespace: string, tool: string): string =>
  namespace.startsWith('mcp__') ? `${namespace}__${tool}` : tool;

/** The name of a sub-agent that has no nickname yet: its task or its kind. */
function childName(input: JsonValue): string {
  const { task_name, agent_type } = objectIn(input) ?? {};
  return textIn(task_name) ?? textIn(agent_type) ?? 'agent';
}

/** The model may write invalid JSON. Codex reports that to it, and the text stays as it is. */
const parsedArguments = (text: JsonValue): JsonValue => (typeof text === 'string' ? jsonOrText(text) : text);
