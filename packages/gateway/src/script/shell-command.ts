import { posix } from 'node:path';
import type { NeutralCall } from './script.ts';

/** For agents whose only tool is the shell. It needs only `cat` and `mkdir`, and writes exactly the call's bytes. */
export function shellCommand(call: NeutralCall): string {
  switch (call.tool) {
    case 'shell':
      return call.command;
    case 'read':
      return `cat -- ${quoted(call.path)}`;
    case 'write':
      return `mkdir -p -- ${quoted(posix.dirname(call.path))} && printf '%s' ${quoted(call.content)} > ${quoted(call.path)}`;
    case 'edit':
      return editCommand(call);
  }
}

/** The `x` keeps newlines at the end of the file, which a command substitution would drop. */
const editCommand = ({ path, find, replace }: Extract<NeutralCall, { tool: 'edit' }>): string =>
  [
    `file=${quoted(path)} find=${quoted(find)} replace=${quoted(replace)}`,
    'text=$(cat -- "$file" && printf x) || exit 1',
    `text=\${text%x}`,
    'case $text in',
    `  *"$find"*) printf '%s%s%s' "\${text%%"$find"*}" "$replace" "\${text#*"$find"}" > "$file" ;;`,
    `  *) echo "text to replace not found in $file" >&2; exit 1 ;;`,
    'esac',
  ].join('\n');

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
