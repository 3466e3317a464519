import type { EventEnvelope, JsonObject, JsonValue, StreamEvent } from '@whetstone/events';
import { objectIn, objectsIn, requiredText, textIn } from '../../kit/fields.ts';
import { skillEvents, skillIn } from '../../kit/skill-file.ts';
import { workspacePath } from '../../kit/workspace-path.ts';
import { Collaboration } from './collaboration.ts';
import { CHANGES } from './items.ts';

type Status = 'completed' | 'failed' | 'rejected';

/** The result of a finished item, which is more exact than the text for the model. */
type Outcome = { status: Status; output?: JsonValue };

/**
 * The calls of a rollout. A rollout reports each call up to three times: the model's call, the item that Codex made of
 * it, and the text that the model got back. The first becomes the call, the last becomes the result, with the data of
 * the item. Calls from inside a code mode script have only the item.
 */
export class RolloutCalls {
  readonly collaboration = new Collaboration();
  readonly #workdir: string | undefined;
  readonly #open = new Map<string, Outcome | undefined>();

  constructor(workdir: string | undefined) {
    this.#workdir = workdir;
  }

  /** `function_call` has its arguments as JSON text; `custom_tool_call` has free text as its input. */
  called(item: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const callId = requiredText(item.call_id);
    const tool = requiredText(item.name);
    const input = item.arguments === undefined ? (item.input ?? null) : parseArguments(item.arguments);
    this.#open.set(callId, undefined);
    const name = typeof item.namespace === 'string' ? namespaced(item.namespace, tool) : tool;
    const child =
      tool === 'spawn_agent' ? this.collaboration.started(callId, childName(input), envelope) : [];
    return [{ type: 'action.called', callId, name, input, ...envelope }, ...child];
  }

  /** `function_call_output` and `custom_tool_call_output`. */
  returned(item: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const callId = requiredText(item.call_id);
    const text = outputText(item.output);
    const status = REJECTED.test(text) ? 'rejected' : 'completed';
    const outcome = { status, output: item.output ?? null, ...this.#open.get(callId) } as const;
    this.#open.delete(callId);
    return [{ type: 'action.result', callId, ...outcome, ...envelope }];
  }

  /** A call without a separate result, because the provider ran it or Codex reports none. */
  hosted(
    callId: string,
    name: string,
    input: JsonValue,
    status: Status,
    envelope: EventEnvelope,
  ): StreamEvent[] {
    return [
      { type: 'action.called', callId, name, input, ...envelope },
      { type: 'action.result', callId, status, ...envelope },
    ];
  }

  /** `item_completed` of a call; `undefined` for an item that is not a call or is unknown. */
  completed(item: JsonObject, envelope: EventEnvelope): StreamEvent[] | undefined {
    const id = requiredText(item.id);
    switch (item.type) {
      case 'CommandExecution': {
        const command = commandLine(item.command);
        const exitCode = typeof item.exit_code === 'number' && { exitCode: item.exit_code };
        const output = { output: textIn(item.aggregated_output) ?? '', ...exitCode };
        const status = statusOf(item.status);
        const skill = skillIn(command);
        return [
          ...this.#finished(id, 'command_execution', { command }, { status, output }, envelope),
          ...(skill === undefined ? [] : skillEvents(`${id}/skill`, skill, status, envelope)),
        ];
      }
      case 'McpToolCall': {
        const name = `mcp__${requiredText(item.server)}__${requiredText(item.tool)}`;
        const outcome = { status: statusOf(item.status), output: item.result ?? item.error ?? null };
        return this.#finished(id, name, item.arguments ?? {}, outcome, envelope);
      }
      case 'FileChange': {
        const status = statusOf(item.status);
        const output = textIn(status === 'completed' ? item.stdout : item.stderr) ?? '';
        const changes = objectIn(item.changes) ?? {};
        const called = this.#finished(id, 'apply_patch', changes, { status, output }, envelope);
        return status === 'completed' ? [...called, ...this.#fileEvents(changes, envelope)] : called;
      }
      case 'CollabAgentToolCall':
        return this.#collaborated(id, item, envelope);
      case 'SubAgentActivity': {
        const threadId = requiredText(item.agent_thread_id);
        if (item.kind !== 'started')
          return this.collaboration.ended({ [threadId]: item.kind ?? null }, envelope);
        this.collaboration.hasThread(id, threadId);
        return this.collaboration.started(id, textIn(item.agent_path) ?? 'agent', envelope);
      }
      default:
        return undefined;
    }
  }

  /** Keeps the outcome for a call of the model until its answer comes. A call from a script gets its events here. */
  #finished(
    id: string,
    name: string,
    input: JsonValue,
    outcome: Outcome,
    envelope: EventEnvelope,
  ): StreamEvent[] {
    if (this.#open.has(id)) {
      this.#open.set(id, outcome);
      return [];
    }
    return [
      { type: 'action.called', callId: id, name, input, ...envelope },
      { type: 'action.result', callId: id, ...outcome, ...envelope },
    ];
  }

  #fileEvents(changes: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    return Object.entries(changes).map(([path, value]): StreamEvent => {
      const change = objectIn(value);
      const moved = textIn(change?.move_path);
      const from = workspacePath(path, this.#workdir);
      return moved === undefined
        ? {
            type: 'file.changed',
            path: from,
            change: CHANGES[textIn(change?.type) ?? ''] ?? 'modified',
            ...envelope,
          }
        : {
            type: 'file.changed',
            path: workspacePath(moved, this.#workdir),
            change: 'renamed',
            from,
            ...envelope,
          };
    });
  }

  #collaborated(id: string, item: JsonObject, envelope: EventEnvelope): StreamEvent[] {
    const tool = requiredText(item.tool);
    const states = objectIn(item.agents_states);
    const hasStates = states !== undefined && Object.keys(states).length > 0;
    const outcome = { status: statusOf(item.status), ...(hasStates && { output: states }) };
    const input = { prompt: item.prompt ?? null };
    const called = this.#finished(id, tool, input, outcome, envelope);
    if (tool !== 'spawn_agent') return [...called, ...this.collaboration.ended(states, envelope)];
    const [receiver] = objectsIn(item.receiver_agents);
    const threadId = textIn(receiver?.thread_id);
    const started = this.collaboration.started(id, textIn(receiver?.agent_nickname) ?? 'agent', envelope);
    if (threadId === undefined) return [...called, ...started, ...this.collaboration.failed(id, envelope)];
    this.collaboration.hasThread(id, threadId);
    return [...called, ...started, ...this.collaboration.ended(states, envelope)];
  }
}

/** What the model reads if a rule, the user or a reviewer refused a command. Such a command has no item. */
const REJECTED = /^\w+ failed: [\s\S]*Rejected\(/;

function statusOf(status: JsonValue | undefined): Status {
  if (status === 'declined') return 'rejected';
  return status === 'failed' ? 'failed' : 'completed';
}

/** The namespace of an MCP tool is `mcp__<server>`. Other namespaces add nothing to the name. */
const namespaced = (namespace: string, tool: string): string =>
  namespace.startsWith('mcp__') ? `${namespace}__${tool}` : tool;

/** The name of a sub-agent that has no nickname yet: its task or its kind. */
function childName(input: JsonValue): string {
  const { task_name, agent_type } = objectIn(input) ?? {};
  return textIn(task_name) ?? textIn(agent_type) ?? 'agent';
}

function parseArguments(text: JsonValue): JsonValue {
  if (typeof text !== 'string') return text;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text; // the model wrote invalid JSON, and Codex reported that to it
  }
}

const outputText = (output: JsonValue | undefined): string =>
  textIn(output) ?? textIn(objectIn(output)?.content) ?? '';

const commandLine = (command: JsonValue | undefined): string =>
  Array.isArray(command)
    ? command.filter((word) => typeof word === 'string').join(' ')
    : requiredText(command);
