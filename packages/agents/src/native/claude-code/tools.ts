import type { JsonObject, JsonValue } from '@whetstone/events';
import { objectIn, textIn, tokensIn } from '../../kit/fields.ts';
import { plainOutcome, plainText } from './content.ts';
import type { ToolOutcome, ToolVocabulary } from './tool-calls.ts';

/** Claude Code's tools, 2.1. `Task` is the older name of `Agent`. */
export const claudeTools: ToolVocabulary = {
  shell: new Set(['Bash']),
  subagent: new Set(['Agent', 'Task']),
  skill: new Set(['Skill']),
  todos: new Set(['TodoWrite']),
  files: { Write: 'file_path', Edit: 'file_path', MultiEdit: 'file_path', NotebookEdit: 'notebook_path' },
};

/** `details`: the tool's own record. An object on success, a text on error, absent in sub-agents. */
export function claudeOutcome(block: JsonObject, details: JsonValue | undefined): ToolOutcome {
  const outcome = plainOutcome(block);
  const record = objectIn(details) ?? {};
  const text = textIn(outcome.output) ?? '';
  return {
    ...outcome,
    output: reportOf(record) ?? outcome.output,
    exitCode: exitCode(outcome.status, text, record),
    isNewFile: record.type === 'create' || record.originalFile === null || text.startsWith('File created'),
    isLaunch: record.isAsync === true || text.startsWith('Async agent launched'),
  };
}

/** A sub-agent's answer, without the notes that Claude Code puts around it for the model. */
function reportOf({ agentId, content, harnessNoteCount, harnessTailCount }: JsonObject): string | undefined {
  if (typeof agentId !== 'string' || !Array.isArray(content)) return undefined;
  const end = content.length - tokensIn(harnessTailCount);
  return plainText(content.slice(tokensIn(harnessNoteCount), end));
}

/** For a failed command, Claude Code writes the exit code into the first line of the output. */
function exitCode(status: ToolOutcome['status'], text: string, record: JsonObject): number | undefined {
  if (status === 'failed') {
    const code = /^Exit code (\d+)/.exec(text)?.[1];
    return code === undefined ? undefined : Number(code);
  }
  const isUnknown = record.backgroundTaskId !== undefined || record.interrupted === true;
  return isUnknown ? undefined : 0;
}
