import type { EventEnvelope, JsonObject, JsonValue, StreamEvent, StreamEventOf } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, objectsIn, textIn } from '../../kit/fields.ts';
import { mcpToolName } from '../../kit/mcp-tool-name.ts';
import type { MapperPlace } from '../../kit/native-mapper.ts';
import { workspacePath } from '../../kit/workspace-path.ts';

/** A call of one of Gemini CLI's tools, which its stream and its session file tell alike. */
export type GeminiCall = { callId: string; tool: string; input: JsonValue };

export type GeminiResult = {
  status: 'completed' | 'failed' | 'rejected';
  output?: JsonValue;
  /** Where the result tells it. */
  change?: 'added' | 'modified';
  /** Of a sub-agent that gave up, although its call succeeded. */
  isGivenUp?: boolean;
};

const SUBAGENT_TOOL = 'invoke_agent';

export function callEvents(
  { callId, tool, input }: GeminiCall,
  { mcpServers }: MapperPlace,
  envelope: EventEnvelope,
): StreamEvent[] {
  const call = nameAndInput(tool, input, mcpServers);
  const called: StreamEvent = { type: 'action.called', callId, ...call, ...envelope };
  if (tool !== SUBAGENT_TOOL) return [called];
  const name = textIn(objectIn(input)?.agent_name) ?? tool;
  return [called, { type: 'subagent.called', callId, name, ...envelope }];
}

function nameAndInput(
  tool: string,
  input: JsonValue,
  mcpServers: readonly string[] | undefined,
): { name: string; input: JsonValue } {
  const skill = tool === 'activate_skill' ? textIn(objectIn(input)?.name) : undefined;
  if (skill !== undefined) return { name: 'load_skill', input: { skill } };
  return { name: mcpToolName(tool, { prefix: 'mcp_', mcpServers }) ?? mcpName(tool) ?? tool, input };
}

/**
 * `mcp_server_tool`, of a server that was not named to us: Gemini CLI, too, takes it to end at the first underscore (its
 * reference/policy-engine.md).
 */
function mcpName(tool: string): string | undefined {
  const [, server, name] = /^mcp_([^_]+)_(.+)$/s.exec(tool) ?? [];
  return server !== undefined && name !== undefined ? `mcp__${server}__${name}` : undefined;
}

export function resultEvents(
  call: GeminiCall,
  { status, output, change, isGivenUp = false }: GeminiResult,
  workdir: string | undefined,
  envelope: EventEnvelope,
): StreamEvent[] {
  const { callId, tool, input } = call;
  const told = { callId, ...present({ output }), ...envelope };
  const result: StreamEvent = { type: 'action.result', status, ...told };
  if (tool === SUBAGENT_TOOL) {
    const ending = status === 'completed' && !isGivenUp ? 'completed' : 'failed';
    return [{ type: 'subagent.completed', status: ending, ...told }, result];
  }
  if (status !== 'completed') return [result];
  const parameters = objectIn(input) ?? {};
  if (tool === 'write_todos')
    return [result, { type: 'plan.updated', steps: planOf(parameters), ...envelope }];
  const changed = change ?? changeOf(tool, parameters);
  const path = textIn(parameters.file_path);
  if (changed === undefined || path === undefined) return [result];
  return [result, { type: 'file.changed', path: workspacePath(path, workdir), change: changed, ...envelope }];
}

/**
 * `write_file` does not tell whether the file was there: modified says the least. An edit of nothing creates the file.
 */
function changeOf(tool: string, { old_string: old }: JsonObject): 'added' | 'modified' | undefined {
  if (tool === 'write_file') return 'modified';
  if (tool !== 'replace') return undefined;
  return old === '' ? 'added' : 'modified';
}

type Step = StreamEventOf<'plan.updated'>['steps'][number];

/** What is `blocked` is still to be done; what is `cancelled` is no step any more. */
function planOf({ todos }: JsonObject): Step[] {
  return objectsIn(todos).flatMap(({ description, status }): Step[] => {
    if (typeof description !== 'string' || status === 'cancelled') return [];
    const isKnown = status === 'in_progress' || status === 'completed';
    return [{ text: description, status: isKnown ? status : 'pending' }];
  });
}
