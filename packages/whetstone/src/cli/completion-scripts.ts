/**
 * A script per shell. Each asks `whetstone complete` for what can follow the words so far, one `VALUE<TAB>DESCRIPTION` per
 * line, and falls back to the names of files where nothing comes.
 */
export const completionScripts: Readonly<Record<string, string>> = {
  bash: `_whetstone() {
  local value rest
  COMPREPLY=()
  while IFS=$'\\t' read -r value rest; do
    COMPREPLY+=("$(printf '%q' "$value")")
  done < <(whetstone complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _whetstone whetstone
`,
  zsh: `#compdef whetstone
_whetstone() {
  local value rest
  local -a found
  while IFS=$'\\t' read -r value rest; do
    found+=("\${value//:/\\\\:}\${rest:+:}$rest")
  done < <(whetstone complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  if (( $#found )); then _describe whetstone found; else _files; fi
}
compdef _whetstone whetstone
`,
  fish: `function __whetstone_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  set -l found (whetstone complete -- $before[2..-1] "$current" 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path "$current"
  end
end
complete -c whetstone -f -a '(__whetstone_complete)'
`,
};

/** Prints the script of a shell. */
export function completionCommand(
  shell: string,
  { json = false }: { json?: boolean },
  { stdout }: { stdout: NodeJS.WritableStream },
): 0 {
  const script = completionScripts[shell] ?? '';
  stdout.write(json ? `${JSON.stringify({ shell, script })}\n` : script);
  return 0;
}
