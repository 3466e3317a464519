import type { Command } from 'commander';

/** What `--help` prints after the options of a command, by the words of the command. */
const EXAMPLES: Record<string, string> = {
  '': `
  whetstone init                                looks around, asks, and writes a config to start from
  whetstone validate-config --strict            everything that is wrong with it
  whetstone run --dry-run                       what would run, and with which commands
  whetstone run --trials 3 --jobs 2             run it
  whetstone show latest                         look at the result

Exit codes: 0 all passed, 1 some case not passed, 2 bad config or usage, 3 the harness failed, 130 interrupted.`,
  init: `
  whetstone init
  whetstone init --agent-command 'my-agent --prompt {prompt_file}'
  whetstone init --yes --ci -d evals
  whetstone init --agent-profiles -d ../evals --repo-path .`,
  'validate-config': `
  whetstone validate-config
  whetstone validate-config --strict --check-agents -c whetstone.yaml`,
  run: `
  whetstone run --dry-run
  whetstone run --trials 5 --jobs 4
  whetstone run --agent codex --variant with-agents-md --task-id fix-parser
  whetstone run --sequential --jobs 2           ends when the comparisons are decided
  whetstone run --resume latest
  whetstone run --fail-under 80% --json > summary.json

A run can be stopped with Ctrl-C or killed at any time: finished cases are kept, and --resume runs the rest.`,
  try: `
  whetstone try AGENTS.md --dry-run
  whetstone try AGENTS.md
  whetstone try AGENTS.md --agent claude-code --trials 5 --budget 20
  whetstone try .claude/skills/release-notes --yes --json > answer.json

Without a config it takes the tasks of tasks/mined, else it mines some, and uses an agent of this machine. With a config it
takes tasks, agents and gateway from there. What it writes is in .whetstone/. Exit code 0 says that there is an answer,
whichever it is.`,
  'tasks mine': `
  whetstone tasks mine --dry-run
  whetstone tasks mine --since 2y --limit 20 --prepare 'npm ci'
  whetstone tasks mine --issues issues.json --sessions ~/.pi/agent/sessions`,
  'tasks check': `
  whetstone tasks check --repeat 5
  whetstone tasks check tasks/mined --json`,
  audit: `
  whetstone audit
  whetstone audit tasks/mined --jobs 2
  whetstone audit whetstone.yaml --task fix-parser --only cheats,flaky --repeat 5
  whetstone audit --json > audit.json
  whetstone audit --junit audit.xml

An audit that was stopped goes on where it ended. Exit codes: 0 nothing found, 5 something found, 130 interrupted.`,
  'audit agent': `
  whetstone audit agent
  whetstone audit agent --agent codex --scenario readme-injection --scenario writes-outside
  whetstone audit agent whetstone.yaml --json | jq '.results[] | select(.status == "executed")'

The tasks come with Whetstone; agents, gateway and sandbox are those of the configuration. Exit codes: 0 no attack was executed,
5 at least one was, 130 interrupted.`,
  report: `
  whetstone report latest
  whetstone report latest --format junit > junit.xml
  whetstone report .whetstone/runs/20260101-120000-ab12 --format csv`,
  show: `
  whetstone show latest
  whetstone show latest fix-parser__baseline__codex__trial-1
  whetstone show latest fix-parser__baseline__codex__trial-1 --call 1
  whetstone show latest fix-parser --call 2 --json | jq -r .exchange.request`,
  runs: `
  whetstone runs
  whetstone runs tag latest main
  whetstone runs note latest 'after the update of Codex'`,
  'runs tag': `
  whetstone runs tag latest main`,
  'runs note': `
  whetstone runs note main 'before the new prompt'
  whetstone runs note main ''                   removes it`,
  'runs import': `
  whetstone runs import logs/before.eval --variant before --tag before
  whetstone runs import jobs/2026-11-23__10-00-00 --variant after --tree /app
  whetstone compare before:before latest:after

Transcripts can be judged by an eval (rescore --eval), and the trees of a Harbor job by hidden tests (rescore -c).`,
  compare: `
  whetstone compare baseline with-agents-md
  whetstone compare main latest --gate 'delta > -5pp'
  whetstone compare latest:codex latest:claude-code
  whetstone compare 20260101-120000-ab12:baseline latest:with-agents-md --json

B is compared with A on the tasks that both have. --gate tests a bound of the 95 % interval, never the point.
Exit codes: 0 compared, or the gate passed; 1 the gate failed; 4 the gate is inconclusive.`,
  rescore: `
  whetstone rescore latest --tasks stricter-tasks.yaml
  whetstone rescore main --validation 'npm test' --jobs 2
  whetstone rescore latest --repeat 3
  whetstone rescore latest --eval evals/fix-parser.eval.ts
  whetstone rescore after -c harbor.yaml        the trees that a Harbor job kept

The result is a run of its own. The stored run stays as it is.`,
  plan: `
  whetstone plan --effect 10pp --power 0.8
  whetstone plan --effect 5pp --trials 1,3 --run main --jobs 4
  whetstone plan --tasks 40 --json

The spread over tasks, the cost and the time come from an earlier run. Without one the spread is assumed, and cost and
time are unknown.`,
  calibrate: `
  whetstone calibrate latest
  whetstone calibrate main --effect 20pp --replays 5000
  whetstone calibrate whetstone.yaml --trials 3 --jobs 2

With a config its baseline runs, twice as many trials as --trials says, and its trials are held against each other.`,
  view: `
  whetstone view
  whetstone view latest --open`,
  docs: `
  whetstone docs
  whetstone docs --no-open --port 8080`,
  export: `
  whetstone export latest --format atif
  whetstone export latest --format inspect --out logs
  whetstone export latest --otlp http://localhost:4318`,
  'ci github': `
  whetstone ci github
  whetstone ci github -c evals/whetstone.yaml --trials 5 --budget 20`,
  'ci gitlab': `
  whetstone ci gitlab --budget 20`,
  'ci run': `
  whetstone ci run --base origin/main
  whetstone ci run --base HEAD --head refs/whetstone/pull-request --budget 10

Exit codes: 0 measured, or nothing to measure; 1 a verdict is worse, or a comparison has no result.`,
  'ci canary': `
  whetstone ci canary --budget 5`,
  'canary start': `
  whetstone canary start --jobs 2
  whetstone canary start --from main
  whetstone canary start --force --trials 10`,
  'canary run': `
  whetstone canary run --jobs 2 --budget 5
  whetstone canary run --json | jq .verdict

On average at most one false alarm in 200 nights. Exit codes: 0 no drift, or too early to tell; 1 a drift; 4 too few cases of
tonight have a result; 130 interrupted.`,
  'canary status': `
  whetstone canary status`,
  'ci publish': `
  whetstone ci publish
  whetstone ci publish --dry-run`,
  completion: `
  source <(whetstone completion bash)                                  # in ~/.bashrc
  source <(whetstone completion zsh)                                   # in ~/.zshrc, after compinit
  whetstone completion fish > ~/.config/fish/completions/whetstone.fish`,
  errors: `
  whetstone errors
  whetstone errors agent-key-missing
  whetstone errors --json | jq -r '.[].code'`,
  agent: `
  whetstone agent "Fix the failing test" --cd path/to/repo
  whetstone agent "List what is untested" --profile anthropic --json | jq .type

The key comes from OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, which also chooses the profile. The base URL comes
from --base-url, else from OPENAI_BASE_URL, ANTHROPIC_BASE_URL or GOOGLE_GEMINI_BASE_URL. Commands run as you, on this
machine: use it only where you would run them yourself.`,
  'agents list': `
  whetstone agents list
  whetstone agents list --json | jq '.[] | select(.on_path != null) | .kind'`,
  'agents doctor': `
  whetstone agents doctor
  whetstone agents doctor --json | jq '.[] | select(.status == "problem")'

Exit code 1 says that something is a problem. It starts no agent and shows no key.`,
  'agents matrix': `
  whetstone agents matrix codex-cli claude-code
  whetstone agents matrix acp:gemini-cli openai:codex
  whetstone agents matrix --json | jq '.[] | select(.attaches != "–") | .agent'`,
  'agents install': `
  whetstone agents install codex
  whetstone agents install claude-code@2.1.330 gemini-cli

An agent with \`version:\` in its configuration runs that version. Other agents run the one on the PATH, else the newest installed one.`,
  'agents parse': `
  codex exec --json "Explain this repository" | whetstone agents parse codex-cli -
  whetstone agents parse claude-code ~/.claude/projects/-work-app/8f2c….jsonl --metadata | jq .commands`,
  'agents capture': `
  whetstone agents capture codex
  whetstone agents capture claude-code --model claude-opus-4-5 --diff

The agent runs once, in an empty repository, with its own HOME and a scripted model: it needs no key and calls no
provider. The capture goes into your cache folder. It contains the agent's own text: check the agent's licence before
you share it.`,
  gateway: `
  whetstone gateway --mode script --script fix.yaml
  whetstone gateway --mode forward --budget-usd 5
  whetstone gateway --mode forward --upstream openai=http://localhost:8000/v1 --key-env openai=MY_KEY
  whetstone gateway --mode record --cassette session.jsonl
  whetstone gateway --mode replay --cassette session.jsonl --miss lenient
  whetstone gateway --mode forward --fault 429,retry-after=1@first=2 --fault latency=500

and in another shell:
  eval "$(whetstone gateway env codex)" && codex

Faults: KIND[=VALUE][,FIELD=VALUE…][@first=N|every=N|p=SHARE], or JSON. A number is an HTTP status.`,
  'gateway env': `
  eval "$(whetstone gateway env codex)"
  eval "$(whetstone gateway env claude-code --model claude-opus-4-5)"
  eval "$(whetstone gateway env)" && node my-program.js`,
};

/** The examples of a command by its words, such as `ci run`; some end with prose, whose lines are not indented. */
export const examplesOf = (words: string): string | undefined => EXAMPLES[words];

/** Adds their examples to a command and to the commands below it, and to an error in one where its help is. */
export function addExamples(command: Command, words: readonly string[] = []): void {
  const examples = examplesOf(words.join(' '));
  const help = ['whetstone', ...words, '--help'].join(' ');
  command.showHelpAfterError(
    `(${help} ${words.length === 0 ? 'lists the commands' : 'shows what it takes'})`,
  );
  if (examples !== undefined) command.addHelpText('after', `\nExamples:${examples}`);
  for (const below of command.commands) addExamples(below, [...words, below.name()]);
}
