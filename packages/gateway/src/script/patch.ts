import type { NeutralCall } from './script.ts';

/**
 * A `write` or `edit` in the apply_patch format of Codex, or `undefined` when the format cannot express it exactly: it
 * only knows whole lines, ends every file with a newline and drops carriage returns. An edit is assumed to begin and
 * end at line ends.
 */
export function patchFor(call: NeutralCall): string | undefined {
  if (call.tool === 'edit') return editPatch(call);
  if (call.tool !== 'write' || (call.content !== '' && !isWholeLines(call.content))) return undefined;
  return patch(`*** Add File: ${call.path}`, prefixed('+', linesOf(call.content)));
}

function editPatch({ path, find, replace }: Extract<NeutralCall, { tool: 'edit' }>): string | undefined {
  const replacesLines = isWholeLines(find)
    ? isWholeLines(replace) || replace === ''
    : !find.startsWith('\n') && !replace.includes('\r') && !find.includes('\r');
  if (!replacesLines) return undefined;
  const [before, after] = isWholeLines(find)
    ? [linesOf(find), linesOf(replace)]
    : [find.split('\n'), replace.split('\n')];
  return patch(`*** Update File: ${path}`, ['@@', ...prefixed('-', before), ...prefixed('+', after)]);
}

const isWholeLines = (text: string): boolean => text.endsWith('\n') && !text.includes('\r');

/** The lines of a text that is empty or ends with a newline. */
const linesOf = (text: string): string[] => text.split('\n').slice(0, -1);

const prefixed = (prefix: string, lines: string[]): string[] => lines.map((line) => `${prefix}${line}`);

const patch = (header: string, lines: string[]): string =>
  ['*** Begin Patch', header, ...lines, '*** End Patch', ''].join('\n');
