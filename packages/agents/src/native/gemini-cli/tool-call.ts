import type { JsonObject, JsonValue, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, textIn } from '../../kit/fields.ts';
import { fileChanged, planSteps } from '../../kit/mapped-events.ts';
import { mcpToolName } from '../../kit/mcp-tool-name.ts';
import type { MapperPlace } from '../../kit/native-mapper.ts';

/** A tool call of Gemini CLI. Its stream and its session file report calls the same way. */
export type GeminiCall = { callId: string; tool: string; input: JsonValue };

export type GeminiResult = {
  status: 'completed' | 'failed' | 'rejected';
  output?: JsonValue | undefined;
  /** Set if the result says how the file changed. */
  change?: 'added' | 'modified';
  /** A sub-agent gave up, although its call succeeded. */
  isGivenUp?: boolean;
};

const SUBAGENT_TOOL = 'invoke_agent';

export function callEvents({ callId, tool, input }: GeminiCall, { mcpServers }: MapperPlace): StreamEvent[] {
  const call = nameAndInput(tool, input, mcpServers);
  const called: StreamEvent = { type: 'action.called', callId, ...call };
  if (tool !== SUBAGENT_TOOL) return [called];
  const name = textIn(objectIn(input)?.agent_name) ?? tool;
  return [called, { type: 'subagent.called', callId, name }];
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

/** As in Gemini CLI, the name of an unknown server ends at the first underscore (its reference/policy-engine.md). */
function mcpName(tool: string): string | undefined {
  const [, server, name] = /^mcp_([^_]+)_(.+)$/s.exec(tool) ?? [];
  return server !== undefined && name !== undefined ? `mcp__${server}__${name}` : undefined;
}

export function resultEvents(
  { callId, tool, input }: GeminiCall,
  { status, output, change, isGivenUp = false }: GeminiResult,
  workdir: string | undefined,
): StreamEvent[] {
  const fields = { callId, ...present({ output }) };
  const result: StreamEvent = { type: 'action.result', status, ...fields };
  if (tool === SUBAGENT_TOOL) {
    const ending = status === 'completed' && !isGivenUp ? 'completed' : 'failed';
    return [{ type: 'subagent.completed', status: ending, ...fields }, result];
  }
  if (status !== 'completed') return [result];
  const parameters = objectIn(input) ?? {};
  if (tool === 'write_todos')
    return [result, { type: 'plan.updated', steps: planSteps(parameters.todos, 'description') }];
  const changed = change ?? changeOf(tool, parameters);
  const path = textIn(parameters.file_path);
  return changed === undefined || path === undefined
    ? [result]
    : [result, fileChanged(path, workdir, changed)];
}

/** `write_file` does not report whether the file existed: it counts as modified. An edit of nothing creates a file. */
function changeOf(tool: string, { old_string: old }: JsonObject): 'added' | 'modified' | undefined {
  if (tool === 'write_file') return 'modified';
  if (tool !== 'replace') return undefined;
  return old === '' ? 'added' : 'modified';
}
