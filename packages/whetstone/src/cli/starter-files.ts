/** The texts that `init` writes. Their parameters are YAML already. */

/** Stands in for an agent: copies the task into a file, so that a first run shows every step. */
const STAND_IN = '"cat {prompt_file} > NOTES.md"';
const CUSTOM = '"my-agent --prompt {prompt_file}"';

export function configText(repoPath: string, agents: string): string {
  return `# What Whetstone runs: every agent, on every task, with every variant, as often as --trials says.
# Paths are relative to the folder of this file.

repo:
  path: ${repoPath}      # a Git repository; it is only read
  base_ref: HEAD         # the commit that agents start from

${agents}
tasks: tasks.yaml

# What is compared. Each variant lays its files over the repository before the agent starts.
# An overlay is {source, target}, or {remove: [paths]} to take files away.
variants:
  baseline:
    description: The notes as they are
    overlays:
      - source: contexts/baseline/AGENTS.md
        target: AGENTS.md
  experiment:
    description: The notes to try
    overlays:
      - source: contexts/experiment/AGENTS.md
        target: AGENTS.md

# Run after the agent, on a clean copy of the repository with the agent's changes. A case passes when all of them exit
# with 0. Put your test command here; a task can have its own in tasks.yaml.
evaluation:
  commands:
    - test -s NOTES.md
  timeout_seconds: 600

output_dir: .whetstone/runs
`;
}

const VARIABLES = `# In a command, {workspace}, {prompt}, {prompt_file}, {session_id}, {task_id}, {variant} and {output_dir} are filled in and
# quoted for the shell. A command must not wait for input: no login, no editor, no question. It does not see the
# secrets of your environment; pass one with env: {NAME: "\${NAME}"}.
`;

export function singleAgent(command: string | undefined): string {
  const note =
    command === undefined
      ? `# A stand-in, so that the first run works without an agent or a key: it copies the task into NOTES.md.
# Put your agent here, for example (more in \`whetstone init --agent-profiles\`):
#   command: "codex exec --json --sandbox workspace-write --skip-git-repo-check -C {workspace} - < {prompt_file}"
`
      : '';
  return `${VARIABLES}${note}agent:
  name: ${command === undefined ? 'stand-in' : 'my-agent'}
  command: ${command ?? STAND_IN}
  timeout_minutes: 60
`;
}

export function agentProfiles(customCommand: string | undefined): string {
  return `${VARIABLES}# Starting points: remove the agents that you do not have, and set the models and keys that you use.
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
      --dangerously-skip-permissions --model claude-sonnet-4-5
    resume_command: >-
      claude -p "{prompt}" --output-format stream-json --verbose
      --dangerously-skip-permissions --model claude-sonnet-4-5 --resume {session_id}
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
    command: ${customCommand ?? CUSTOM}
    timeout_minutes: 60
`;
}

export const TASKS_TEXT = `# One entry per task. The agent gets only the prompt, which is the same in every variant.
tasks:
  - id: first-task
    title: Describe the project
    prompt: |
      Write NOTES.md: in a few sentences, what this project does and how its tests are run.
    # Optional:
    # follow_ups: [Now shorten it.] # one turn each, in the same session
    # category: docs                # for --category
    # difficulty: easy              # for --difficulty
    # repo_ref: v1.2.0              # another commit than repo.base_ref
    # setup: [npm ci]               # run before the agent, and again before validation
    # validation:
    #   commands: [npm test]        # instead of evaluation.commands
    # hidden_tests: hidden/first-task   # a folder laid over the tree only for validation
    # protected_paths: ["test/**"]  # put back before validation
    # timeout_seconds: 900
`;

export const EXPERIMENT_CONTEXT = `# Notes for agents

- Read the tests of what you change before you change it.
- Run the tests when you are done.
`;
