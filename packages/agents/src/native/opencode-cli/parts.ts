import type { JsonObject, JsonValue, StreamEvent, Usage } from '@whetstone/events';
import { momentIn, objectIn, objectsIn, requiredText, textIn, tokensIn } from '../../kit/fields.ts';
import { changeNamed, fileChanged, planSteps, workspacePath } from '../../kit/mapped-events.ts';
import { mcpToolName } from '../../kit/mcp-tool-name.ts';
import type { MapperPlace } from '../../kit/native-mapper.ts';

/** The events of a finished call: its input, its result and its effects. `undefined` while it is running. */
export function toolEvents(part: JsonObject, place: MapperPlace): StreamEvent[] | undefined {
  const ended = endEvents(part, place);
  return ended && [...callEvents(part, place), ...ended];
}

/** The call, and the sub-agent that it starts. */
export function callEvents({ state, ...part }: JsonObject, { mcpServers }: MapperPlace): StreamEvent[] {
  const { input, time } = objectIn(state) ?? {};
  const callId = requiredText(part.callID);
  const tool = requiredText(part.tool);
  const given = objectIn(input) ?? {};
  const started = momentIn(objectIn(time)?.start);
  const call: StreamEvent = {
    type: 'action.called',
    callId,
    ...namedCall(tool, given, mcpServers),
    ...started,
  };
  if (tool !== 'task') return [call];
  return [call, { type: 'subagent.called', callId, name: textIn(given.subagent_type) ?? tool, ...started }];
}

/** What came of a finished call. `undefined` while it is running. */
export function endEvents(part: JsonObject, place: MapperPlace): StreamEvent[] | undefined {
  const state = objectIn(part.state);
  if (!state || (state.status !== 'completed' && state.status !== 'error')) return undefined;
  const callId = requiredText(part.callID);
  const tool = requiredText(part.tool);
  const ended = momentIn(objectIn(state.time)?.end);
  const output = outputOf(tool, state);
  const isDone = state.status === 'completed';
  const events: StreamEvent[] = [];
  if (tool === 'task') {
    const status = isDone ? 'completed' : 'failed';
    events.push({ type: 'subagent.completed', callId, status, output, ...ended });
  }
  events.push({ type: 'action.result', callId, status: statusOf(tool, state), output, ...ended });
  const effects = isDone ? effectsOf(tool, state, objectIn(state.input) ?? {}, place) : [];
  return [...events, ...effects.map((effect) => ({ ...effect, ...ended }))];
}

/** The session id of the sub-agent that a finished call started → the id of the call. */
export function subagentOf({ tool, callID, state }: JsonObject): Record<string, string> {
  const sessionId = tool === 'task' ? objectIn(objectIn(state)?.metadata)?.sessionId : undefined;
  return typeof sessionId === 'string' && typeof callID === 'string' ? { [sessionId]: callID } : {};
}

/** Plugin tools may also be named `<name>_<tool>`, so only calls of known MCP servers are renamed. */
function namedCall(
  tool: string,
  input: JsonObject,
  mcpServers: readonly string[] | undefined,
): { name: string; input: JsonObject } {
  if (tool === 'skill' && typeof input.name === 'string') {
    return { name: 'load_skill', input: { ...input, skill: input.name } };
  }
  return { name: mcpToolName(tool, { mcpServers }) ?? tool, input };
}

/** The message of a refusal, by a rule of the configuration or by a person. A refusal has no status of its own. */
const REFUSAL = /^The user (?:has specified a rule which prevents|rejected permission)/;

function statusOf(tool: string, state: JsonObject): 'completed' | 'failed' | 'rejected' {
  if (state.status === 'error') return REFUSAL.test(textIn(state.error) ?? '') ? 'rejected' : 'failed';
  if (tool === 'question' && !hasAnswer(objectIn(state.metadata)?.answers)) return 'rejected';
  // OpenCode reports every command as completed, even if it failed.
  const exitCode = tool === 'bash' ? objectIn(state.metadata)?.exit : undefined;
  return typeof exitCode === 'number' && exitCode !== 0 ? 'failed' : 'completed';
}

/** A list of answers to each question. */
const hasAnswer = (answers: JsonValue | undefined): boolean =>
  !Array.isArray(answers) || answers.some((one) => Array.isArray(one) && one.length > 0);

function outputOf(tool: string, state: JsonObject): JsonValue {
  const output = state.output ?? state.error ?? null;
  const exitCode = tool === 'bash' ? objectIn(state.metadata)?.exit : undefined;
  return typeof exitCode === 'number' ? { output, exitCode } : output;
}

function effectsOf(
  tool: string,
  state: JsonObject,
  input: JsonObject,
  { workdir }: MapperPlace,
): StreamEvent[] {
  const metadata = objectIn(state.metadata);
  switch (tool) {
    case 'write':
    case 'edit': {
      const path = textIn(metadata?.filepath) ?? textIn(input.filePath);
      const isNew = metadata?.exists === false || (tool === 'edit' && input.oldString === '');
      return path === undefined ? [] : [fileChanged(path, workdir, isNew ? 'added' : 'modified')];
    }
    case 'apply_patch':
      return objectsIn(metadata?.files).flatMap((file) => patchedFile(file, workdir));
    case 'todowrite':
      return [{ type: 'plan.updated', steps: planSteps(input.todos, 'content') }];
    default:
      return [];
  }
}

function patchedFile(file: JsonObject, workdir: string | undefined): StreamEvent[] {
  const from = textIn(file.filePath);
  const path = textIn(file.movePath) ?? from;
  if (path === undefined) return [];
  const changed = fileChanged(path, workdir, changeNamed(file.type));
  return [from === undefined || from === path ? changed : { ...changed, from: workspacePath(from, workdir) }];
}

/** Usage of one step. OpenCode's `input` leaves out cached tokens, its `output` leaves out reasoning (ours has it). */
export function stepUsage(tokens: JsonValue | undefined): Usage | undefined {
  const counts = objectIn(tokens);
  const cache = objectIn(counts?.cache);
  const reasoningTokens = tokensIn(counts?.reasoning);
  const usage = {
    inputTokens: tokensIn(counts?.input),
    outputTokens: tokensIn(counts?.output) + reasoningTokens,
    cacheReadTokens: tokensIn(cache?.read),
    cacheWriteTokens: tokensIn(cache?.write),
    reasoningTokens,
  };
  // A step that was cut off has no usage.
  return Object.values(usage).some((count) => count > 0) ? usage : undefined;
}

/** `{ name, data: { message, statusCode } }` */
export function errorMessage(error: JsonValue | undefined): string {
  const { name, data } = objectIn(error) ?? {};
  const message = textIn(objectIn(data)?.message);
  return message ?? textIn(name) ?? 'The agent reported an error without a message.';
}
