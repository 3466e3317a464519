import type { EventEnvelope, JsonObject, JsonValue, StreamEvent } from '@whetstone/events';
import { objectIn, objectsIn, requiredText, textIn } from '../../kit/fields.ts';
import { workspacePath } from '../../kit/workspace-path.ts';

/** Maps the `data` of `tool.execution_start`. */
export function calledEvent(data: JsonObject, envelope: EventEnvelope): StreamEvent {
  const callId = requiredText(data.toolCallId);
  return { type: 'action.called', callId, ...nameAndInput(data), ...envelope };
}

function nameAndInput(data: JsonObject): { name: string; input: JsonValue } {
  const { mcpServerName: server, mcpToolName: tool, toolName, arguments: input = {} } = data;
  if (typeof server === 'string' && typeof tool === 'string')
    return { name: `mcp__${server}__${tool}`, input };
  const skill = toolName === 'skill' ? textIn(objectIn(input)?.skill) : undefined;
  if (skill !== undefined) return { name: 'load_skill', input: { skill } };
  return { name: requiredText(toolName), input };
}

const CHANGES: Readonly<Record<string, 'added' | 'modified' | 'deleted'>> = {
  create: 'added',
  edit: 'modified',
  delete: 'deleted',
};

/** Maps the `data` of `tool.execution_complete`. The tool succeeds even if its command fails, with an exit code. */
export function resultEvents(
  data: JsonObject,
  workdir: string | undefined,
  envelope: EventEnvelope,
): StreamEvent[] {
  const callId = requiredText(data.toolCallId);
  if (typeof data.success !== 'boolean') throw new TypeError('A result was expected.');
  const error = objectIn(data.error);
  const status = data.success ? 'completed' : error?.code === 'denied' ? 'rejected' : 'failed';
  const output = outputOf(data);
  const changed = objectsIn(data.fileEdits).flatMap(({ path, kind }): StreamEvent[] => {
    if (typeof path !== 'string' || !data.success) return [];
    const change = CHANGES[textIn(kind) ?? ''] ?? 'modified';
    return [{ type: 'file.changed', path: workspacePath(path, workdir), change, ...envelope }];
  });
  const result = output !== undefined && { output };
  return [{ type: 'action.result', callId, status, ...result, ...envelope }, ...changed];
}

/** The result that the model got. */
export function outputOf(data: JsonObject): JsonValue | undefined {
  const output = objectIn(data.result)?.content ?? objectIn(data.error)?.message;
  const exitCode = objectIn(data.shellExecution)?.exitCode;
  return typeof exitCode === 'number' ? { output: output ?? '', exitCode } : output;
}
