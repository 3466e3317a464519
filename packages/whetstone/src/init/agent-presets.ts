/** What a reader of a command template has to know. */
export const COMMAND_NOTES = `# In a command, {workspace}, {prompt}, {prompt_file}, {session_id}, {task_id}, {variant} and {output_dir} are filled in and
# quoted for the shell. A command must not wait for input: no login, no editor, no question. It does not see the
# secrets of your environment; pass one with env: {NAME: "\${NAME}"}.
`;

/** Commands of agents to start from. `customCommand` is YAML already. */
export function agentPresets(customCommand: string | undefined): string {
  return `${COMMAND_NOTES}# Starting points: remove the agents that you do not have, and set the models and keys that you use.
# \`whetstone run --agent codex\` runs one of them. A task with follow_ups needs a resume_command, or a command that
# contains {session_id}.
agents:
  codex:
    kind: codex-cli
    command: >-
      codex exec --json --sandbox workspace-write --skip-git-repo-check
      --output-last-message {output_dir}/codex-final-message.md -C {workspace} - < {prompt_file}
    resume_command: >-
      codex exec --json --sandbox workspace-write --skip-git-repo-check
      --output-last-message {output_dir}/codex-final-message.md -C {workspace} resume {session_id} - < {prompt_file}
    timeout_minutes: 60
    telemetry:
      collector: codex-jsonl      # tokens and tool calls from what codex prints
    env:
      CODEX_API_KEY: "\${OPENAI_API_KEY}"
  claude:
    kind: claude-code
    # Without the permission flag it would stop and ask; the workspace is disposable.
    command: >-
      claude -p "{prompt}" --output-format stream-json --verbose
      --dangerously-skip-permissions
    resume_command: >-
      claude -p "{prompt}" --output-format stream-json --verbose
      --dangerously-skip-permissions --resume {session_id}
    timeout_minutes: 60
    env:
      ANTHROPIC_API_KEY: "\${ANTHROPIC_API_KEY}"
      IS_SANDBOX: "1"             # lets the permission flag work as root
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1"
      DISABLE_AUTOUPDATER: "1"
  trae:
    kind: traecli
    command: traecli -p "{prompt}"
    timeout_minutes: 60
  coco:
    kind: coco
    # -y lets it edit and run commands unasked; explicit --allowed-tool flags narrow that.
    command: coco -y --query-timeout 10m --bash-tool-timeout 5m -p "{prompt}"
    timeout_minutes: 60
  bub:
    kind: bub
    command: bub run "{prompt}" --session-id {session_id}
    timeout_minutes: 60
  custom:
    kind: custom
    command: ${customCommand ?? '"my-agent --prompt {prompt_file}"'}
    timeout_minutes: 60
`;
}
