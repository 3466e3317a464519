import type { JsonObject, JsonValue, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, objectsIn, requiredText, textIn } from '../../kit/fields.ts';
import { changeNamed, fileChanged } from '../../kit/mapped-events.ts';

/** Maps the `data` of `tool.execution_start`. */
export const calledEvent = (data: JsonObject): StreamEvent => ({
  ...{ type: 'action.called', callId: requiredText(data.toolCallId) },
  ...nameAndInput(data),
});

function nameAndInput(data: JsonObject): { name: string; input: JsonValue } {
  const { mcpServerName: server, mcpToolName: tool, toolName, arguments: input = {} } = data;
  if (typeof server === 'string' && typeof tool === 'string')
    return { name: `mcp__${server}__${tool}`, input };
  const skill = toolName === 'skill' ? textIn(objectIn(input)?.skill) : undefined;
  if (skill !== undefined) return { name: 'load_skill', input: { skill } };
  return { name: requiredText(toolName), input };
}

/** Maps the `data` of `tool.execution_complete`. The tool succeeds even if its command fails, with an exit code. */
export function resultEvents(data: JsonObject, workdir: string | undefined): StreamEvent[] {
  const callId = requiredText(data.toolCallId);
  if (typeof data.success !== 'boolean') throw new TypeError('A result was expected.');
  const status = data.success ? 'completed' : objectIn(data.error)?.code === 'denied' ? 'rejected' : 'failed';
  const edits = data.success ? objectsIn(data.fileEdits) : [];
  const changed = edits.flatMap(({ path, kind }) =>
    typeof path === 'string' ? [fileChanged(path, workdir, changeNamed(kind))] : [],
  );
  return [{ type: 'action.result', callId, status, ...present({ output: outputOf(data) }) }, ...changed];
}

/** The result that the model got. */
export function outputOf(data: JsonObject): JsonValue | undefined {
  const output = objectIn(data.result)?.content ?? objectIn(data.error)?.message;
  const exitCode = objectIn(data.shellExecution)?.exitCode;
  return typeof exitCode === 'number' ? { output: output ?? '', exitCode } : output;
}
