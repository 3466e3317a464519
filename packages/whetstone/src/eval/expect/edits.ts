import {
  type CommandWord,
  pathsIn,
  programOf,
  type SimpleCommand,
  toolCategory,
} from '@whetstone/agents/tool-calls';
import { commandsOf, matchPath, matchWords, pathTest } from './commands.ts';
import { anyOf } from './logic.ts';
import { far, type Match, matched, unavailable } from './matcher.ts';
import type { TextPattern, ToolCall } from './patterns.ts';
import { show } from './show.ts';
import { commandLineOf } from './tools.ts';

/** Whether the call of a tool changed a file; without a path, any file. */
export function toolEdit(call: ToolCall, path: TextPattern | undefined): Match {
  const category = toolCategory(call.name);
  const isPossible = /^(?:file_write|file_edit|unknown)$/.test(category);
  if (!isPossible || /failed|rejected/.test(call.status)) return far(`"${call.name}" did not change it`);
  if (path !== undefined) return matchFile(call, category, path);
  if (category === 'unknown') return far(`"${call.name}" is not known to change files`);
  return matched(`"${call.name}" changed files`);
}

/**
 * Whether the call of a tool for files is about a path. One that names no path may be about any; a tool that nobody
 * knows, such as one of an MCP server, may do anything with the file that it names.
 */
export function matchFile(call: ToolCall, category: string, path: TextPattern): Match {
  if (category.startsWith('file_') && pathsIn(call.input).length === 0) {
    return unavailable(`the call of "${call.name}" does not say which file it is about`);
  }
  const match = matchPath(call, path);
  if (category !== 'unknown') return match;
  const reason = `nobody knows what "${call.name}" does with the file that it names`;
  return match.status === 'matched' ? unavailable(reason) : far(reason);
}

/** Whether a shell command changed a file, as far as its programs and redirections say. */
export function shellEdit(call: ToolCall, path: TextPattern | undefined): Match {
  const edits =
    call.status === 'rejected' ? [] : (commandsOf(call) ?? []).flatMap((command) => editOf(command) ?? []);
  if (edits.length === 0) return far(`"${call.name}" did not change it`);
  if (path === undefined) return matched(`${show(commandLineOf(call))} changed files`);
  return anyOf(edits.map((edit) => matchEdit(edit, path, call)));
}

/** `words`: what is changed. `others`: whether the program changes files that it does not name. */
type Edit = { program: string; words: CommandWord[]; others: boolean };

function matchEdit({ program, words, others }: Edit, path: TextPattern, call: ToolCall): Match {
  const patched =
    program === 'apply_patch' ? pathsIn(commandLineOf(call) ?? '').find(pathTest(path)) : undefined;
  if (patched !== undefined) return matched(`the patch changes ${show(patched)}`);
  const named = matchWords(words, path);
  if (named.status !== 'mismatched' || !others) return named;
  return unavailable(`${show(program)} does not name the files that it changes`);
}

const EDITORS = new Set(['tee', 'apply_patch', 'mv', 'rm', 'touch', 'truncate']);
/** These change their last argument. */
const COPIERS = new Set(['cp', 'ln', 'install']);
const GIT_EDITS = new Set(['mv', 'rm', 'restore', 'checkout']);
const GIT_PATCHES = new Set(['apply', 'am', 'reset', 'stash', 'clean', 'revert', 'merge', 'rebase', 'pull']);

function editOf(command: SimpleCommand): Edit | undefined {
  const outputs = command.redirections.filter(({ isOutput, text }) => isOutput && !text.startsWith('/dev/'));
  const program = programOf(command)?.text ?? '';
  const words = command.words.slice(1);
  const edit = (changed: readonly CommandWord[], others = false): Edit => ({
    program,
    words: [...changed, ...outputs],
    others,
  });
  if (EDITORS.has(program)) return edit(words);
  if (COPIERS.has(program)) return edit(words.slice(-1));
  if (program === 'patch') return edit(words, true);
  if (/^(?:sed|perl)$/.test(program) && words.some(({ text }) => /^(?:-\w*i|--in-place)/.test(text))) {
    return edit(words);
  }
  const subcommand = program === 'git' ? words.find(({ text }) => !text.startsWith('-'))?.text : undefined;
  if (subcommand !== undefined && GIT_EDITS.has(subcommand)) return edit(words);
  if (subcommand !== undefined && GIT_PATCHES.has(subcommand)) return edit(words, true);
  return outputs.length > 0 ? edit([]) : undefined;
}
