import type { JsonObject, JsonValue, StreamEvent } from '@whetstone/events';
import { objectIn, objectsIn, textIn } from '../../kit/fields.ts';
import { changeNamed, fileChanged } from '../../kit/mapped-events.ts';
import { mcpToolName } from '../../kit/mcp-tool-name.ts';
import type { MapperPlace } from '../../kit/native-mapper.ts';

/**
 * The protocol has a title and a kind for each call, but no name of the tool. Some agents add it: Qwen Code and the adapter
 * of Claude Code below `_meta`, Gemini CLI at the start of the call's id, OpenCode as the first title.
 */
export function toolNameOf(call: JsonObject, mcpServers: readonly string[] = []): string {
  const meta = objectIn(call._meta);
  const own = textIn(meta?.toolName) ?? textIn(objectIn(meta?.claudeCode)?.toolName);
  const inId = /^(\w+?)__\w*call_/.exec(textIn(call.toolCallId) ?? '')?.[1];
  const title = textIn(call.title) ?? '';
  if (own?.startsWith('mcp__')) return own;
  for (const name of [own, inId, title]) {
    if (name === undefined) continue;
    const mcp =
      mcpToolName(name, { mcpServers }) ??
      mcpToolName(name, { prefix: 'mcp_', mcpServers }) ??
      // Copilot joins server and tool with a dash.
      mcpServers.flatMap((server) =>
        name.startsWith(`${server}-`) ? `mcp__${server}__${name.slice(server.length + 1)}` : [],
      )[0];
    if (mcp !== undefined) return mcp;
  }
  if (call.kind === 'execute') return 'shell';
  return own ?? inId ?? textIn(call.kind) ?? 'other';
}

/** The files of a call: as the agent says where it works, and in its differences. */
export function pathsOf(call: JsonObject): string[] {
  const named = [...objectsIn(call.locations), ...diffsOf(call)].map(({ path }) => path);
  return [...new Set(named.filter((path) => typeof path === 'string'))];
}

const diffsOf = (call: JsonObject): JsonObject[] =>
  objectsIn(call.content).filter(({ type }) => type === 'diff');

/** The input: the agent's own, or what is shown of it. */
export function inputOf(call: JsonObject): JsonObject {
  const input = objectIn(call.rawInput);
  if (input && Object.keys(input).length > 0) return input;
  const title = textIn(call.title) ?? '';
  if (call.kind === 'execute') return { command: title };
  const paths = pathsOf(call);
  return { title, ...(paths.length > 0 && { paths }) };
}

/** The events at the end of a call. */
export function resultEvents(callId: string, call: JsonObject, { workdir }: MapperPlace): StreamEvent[] {
  const exitCode = exitCodeOf(objectIn(call.rawOutput), objectIn(call._meta));
  const output = outputOf(call);
  const isRejected = objectIn(call.rawOutput)?.code === 'rejected';
  const isDone = call.status === 'completed' && (exitCode ?? 0) === 0;
  const result: StreamEvent = {
    ...{ type: 'action.result', callId },
    status: isRejected ? 'rejected' : isDone ? 'completed' : 'failed',
    output: exitCode === undefined ? output : { output, exitCode },
  };
  return [result, ...(isDone ? changesOf(call, workdir) : [])];
}

function outputOf(call: JsonObject): JsonValue {
  const texts = objectsIn(call.content).flatMap(({ type, content }) =>
    type === 'content' ? (textIn(objectIn(content)?.text) ?? []) : [],
  );
  return texts.length > 0 ? texts.join('') : (call.rawOutput ?? call.terminalOutput ?? null);
}

/** Where the adapter of Codex, OpenCode, Qwen Code and Copilot report it. */
function exitCodeOf(output: JsonObject | undefined, meta: JsonObject | undefined): number | undefined {
  const ends = [
    objectIn(meta?.terminal_exit),
    output,
    objectIn(output?.metadata),
    ...objectsIn(output?.contents),
  ];
  for (const end of ends) {
    const code = end?.exitCode ?? end?.exit_code ?? end?.exit;
    if (typeof code === 'number') return code;
  }
  return undefined;
}

function changesOf(call: JsonObject, workdir: string | undefined): StreamEvent[] {
  if (call.kind === 'delete') return pathsOf(call).map((path) => fileChanged(path, workdir, 'deleted'));
  const diffs = diffsOf(call).flatMap((diff): StreamEvent[] => {
    const path = textIn(diff.path);
    if (path === undefined) return [];
    const named = objectIn(diff._meta)?.kind;
    // Agents write an empty old text for a new file.
    const isNew = named === undefined && (textIn(diff.oldText) ?? '') === '';
    return [fileChanged(path, workdir, isNew ? 'added' : changeNamed(named))];
  });
  if (diffs.length > 0 || call.kind !== 'edit') return diffs;
  return pathsOf(call).map((path) => fileChanged(path, workdir, 'modified'));
}
