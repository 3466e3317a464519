import { type ErrorEntry, harness, task, usage } from './error-entry.ts';

/** Codes of `whetstone`, the evaluator and the command line. */
export const whetstoneErrors = {
  'arm-not-found': usage(
    'A comparison names an arm that its run does not have, or two sides that nothing pairs.',
    'List the runs with: whetstone runs. Arms are named RUN:VARIANT, RUN:AGENT or RUN:AGENT/VARIANT.',
  ),
  'call-not-found': usage(
    'A case has no model call of that number or id.',
    'Give a number from 1: `whetstone show RUN CASE` says how many model calls the case has.',
  ),
  'canary-changed': usage(
    'A night of the canary would run another agent or variant than the nights before.',
    'Restore the configuration, or begin anew with `whetstone canary start --force`.',
  ),
  'canary-exists': usage(
    'A series of nights should be started, and there is one already.',
    'Add a night with `whetstone canary run`, or begin anew with `whetstone canary start --force`.',
  ),
  'canary-not-started': usage(
    'A night of the canary has no baseline: there is no `canary.json` beside the runs.',
    'Run the baseline with `whetstone canary start`. In CI, look why the nights of earlier jobs were not restored.',
  ),
  'canary-unreadable': usage(
    'The nights of the canary cannot be read: `canary.json` is damaged, or of another version.',
    'Restore the file, or begin anew with `whetstone canary start --force`.',
  ),
  'capture-failed': harness(
    'What an agent sends to its model could not be captured.',
    'Check that the program is the agent, and give it a model that it knows: `--model MODEL`.',
  ),
  'capture-unwritable': harness(
    'A capture cannot be written to its folder.',
    'Choose a folder that you may write to.',
  ),
  'case-not-found': usage(
    'The run has no case of this name, or the beginning of a name fits several cases.',
    'Give the whole name of one case; `whetstone show RUN` lists them.',
  ),
  'cassette-exists': usage(
    'Cases that should be recorded have a recording already.',
    'Name another folder in `gateway.cassettes`, or remove the old recordings.',
  ),
  'cassette-missing': usage(
    'Cases that should be replayed have no recording.',
    'Record them with `gateway.mode: record`, select the recorded cases, or choose the same trials.',
  ),
  'changes-too-large': usage(
    'What was changed in a workspace is more than Whetstone keeps: 1 GiB in one file, 2 GiB in all, or 250,000 paths. A case of an agent that leaves so much has failed.',
    'Let builds write outside of the workspace, or let an environment install packages before the agent starts.',
  ),
  'ci-base-missing': usage(
    'A change should be measured, and no commit to compare it with is known.',
    'Name it with `--base`.',
  ),
  'ci-nothing-measured': usage(
    'A result should be published, and no job has measured anything here.',
    'Run `whetstone ci run` first, with the same config.',
  ),
  'ci-unsealed': usage(
    'Instructions of somebody else would steer agents that are not sealed from this machine.',
    'Use a machine with a sealed sandbox (`whetstone agents doctor`), or read the instructions and add `--trust-head`.',
  ),
  'command-line-invalid': usage(
    'A command, an option or an argument is unknown, missing or has a value that it cannot have.',
    'Read what the command takes: `whetstone COMMAND --help`.',
  ),
  'config-changed': usage(
    'The page wants to save a configuration that somebody else has changed since, or that is code.',
    'Load the page again to see what the file has now, and edit code in an editor.',
  ),
  'config-invalid': usage(
    'The configuration or a task file has errors.',
    'Correct what each diagnostic names; `whetstone validate-config` checks again.',
  ),
  'config-not-found': usage(
    'There is no configuration file here.',
    'Write one with `whetstone init`, or name yours with `-c FILE`.',
  ),
  'directory-not-found': usage(
    'The working directory does not exist or is not a directory.',
    'Name the working directory with `--cd DIR`.',
  ),
  'disk-full': harness(
    'No space is left on the disk for results or workspaces.',
    'Free some space, then resume the run with `--resume`: finished cases are kept.',
  ),
  'docs-missing': usage(
    'The documentation is not part of this installation.',
    'Read it in the repository on the web. In a clone, build it with `npm run docs`.',
  ),
  'environment-archive-unreadable': usage(
    'An archive of environments cannot be read.',
    'Give a file that `whetstone environments save` wrote.',
  ),
  'environment-inputs-missing': task(
    'The tree of a task has no file that the preparation of its environment depends on.',
    'Name the files in `environment.inputs`, or use `inputs: all`.',
  ),
  'environment-limit-invalid': usage(
    'The size limit of the prepared environments is not a number above 0.',
    'Set WHETSTONE_ENVIRONMENTS_GB to a number of gigabytes, or unset it.',
  ),
  'environment-prepare-failed': task(
    'A command of `environment.prepare` failed, so the cases that need the environment did not run.',
    'Read the log that the message names, and correct the command or `environment.inputs`.',
  ),
  'environment-secret-kept': task(
    'The commands of `environment.prepare` left the value of a secret in a file that every case would get.',
    'Remove the file at the end of `prepare`, or read the secret from its variable.',
  ),
  'environment-unknown': usage(
    'No prepared environment has this key.',
    'Choose a key of `whetstone environments list`.',
  ),
  'error-code-unknown': usage(
    'There is no error code of this name.',
    'List the codes with `whetstone errors`.',
  ),
  'experiment-invalid': usage(
    'The file of an experiment is not an experiment, or asks for something that cannot be done.',
    'Export `defineExperiment({ agent, … })` as the default export.',
  ),
  'export-option-invalid': usage(
    'The options of `whetstone export` do not say what to export.',
    'Name a format with `--format`, or a receiver with `--otlp`.',
  ),
  'fault-invalid': usage(
    'A fault for the gateway to inject is not written as it should be.',
    'Write it as KIND=VALUE@OCCASION, for example `--fault 429@first=2`.',
  ),
  'file-exists': usage(
    'A file that a command would write exists already.',
    'Write to another file with `--out`, or overwrite it with `--force`.',
  ),
  'file-not-found': usage(
    'A file that should be read does not exist or is not a regular file.',
    'Name a file that exists, or `-` for standard input.',
  ),
  'forge-refused': harness(
    'GitHub or GitLab refused to write the comment of a pull request.',
    'Read what the API said, and check the token and its permissions.',
  ),
  'forge-unreachable': harness(
    'GitHub or GitLab could not be reached.',
    'Check the network and the address of the API.',
  ),
  'gateway-ambiguous': usage(
    'Several gateways run, and the command does not say which one it means.',
    'Name one with `--gateway URL`.',
  ),
  'gateway-not-running': usage(
    'No gateway of yours runs, or none at the given address.',
    'Start one with `whetstone gateway --mode MODE`, or name one with `--gateway URL --key KEY`.',
  ),
  'gateway-option-invalid': usage(
    'An option of `whetstone gateway` is missing, or does not fit the others.',
    'See `whetstone gateway --help`.',
  ),
  'gateway-state-unwritable': harness(
    'The file with which other commands find a running gateway cannot be written.',
    'Set XDG_CACHE_HOME to a folder that you may write to.',
  ),
  'git-failed': harness(
    'A git command failed.',
    'Read what git said, and check the repository with `git fsck`.',
  ),
  'git-missing': usage('The program git was not found.', 'Install git 2.32 or newer and put it in the PATH.'),
  'harness-defect': harness(
    'Whetstone itself failed in a way that it does not expect.',
    'Report the error with the text on stderr and the version.',
  ),
  'import-invalid': usage(
    'The results of another tool cannot become a run: the files are of no known tool, they are damaged, or they say two things.',
    'Give logs of Inspect (.eval or .json) or the folder of a job of Harbor to `whetstone runs import`.',
  ),
  'init-exists': usage(
    '`whetstone init` would overwrite a file.',
    'Choose another `--directory`, or overwrite the files with `--force`.',
  ),
  'instructions-above-workspace': usage(
    'A folder above the workspaces holds instructions or settings that agents would read, such as an AGENTS.md.',
    'Move the file away, or set `TMPDIR` to a folder that has nothing like that in it or above it. `driveAgent` and `openSession` take `above: allowed`.',
  ),
  'issues-unreadable': usage(
    'A file for `--issues` is not an export of issues or pull requests, or `gh` cannot answer.',
    'Sign in with `gh auth login`, or write an export with `gh issue list --state all --limit 1000 --json number,title,body,url > issues.json`.',
  ),
  'labels-invalid': usage(
    'A file with labels of people cannot be compared with a judge.',
    'Write one object per line: {"id": "…", "human": "…", "judge": "…"}, each id once.',
  ),
  'masks-unusable': task(
    'A task asks for masked tests, and its tests cannot be masked.',
    'Leave out `validation.tests.masks`, or give the task hidden tests, a `gold_patch` and assertions on what the code returns.',
  ),
  'mcp-job-running': usage(
    'A coding agent starts a job while another one runs.',
    'Wait for the other job, or end it with `stop_job`.',
  ),
  'mcp-job-unknown': usage(
    'A coding agent asks for a job that was never started.',
    'Use the id that the tool returned which started the job.',
  ),
  'mining-option-invalid': usage(
    'An option of `whetstone tasks mine` has a value that it cannot have.',
    'See `whetstone tasks mine --help`.',
  ),
  'otlp-refused': harness(
    'A receiver of OpenTelemetry did not take the spans.',
    'Check the address, and the headers in OTEL_EXPORTER_OTLP_HEADERS.',
  ),
  'otlp-unreachable': usage(
    'A receiver of OpenTelemetry could not be reached.',
    'Give the address of a collector, such as http://localhost:4318.',
  ),
  'output-unwritable': usage(
    'The folder for results, or a file that a command should write, cannot be written.',
    'Set `output_dir` in the configuration, or the option of the command, to a folder that you may write to.',
  ),
  'overlay-source-missing': task(
    'A file or folder that a variant or a task copies into the workspace does not exist.',
    'Correct the path: paths in a configuration are relative to the file that holds them.',
  ),
  'overlay-source-unreadable': task(
    'A file or folder that a variant or a task names cannot be copied into the workspace.',
    'Check its permissions, and that it holds regular files, folders and links only.',
  ),
  'path-refused': usage(
    'The system refuses a file or a folder that a command reads or writes.',
    'Give yourself the rights to it, or name another one: in an option, in the configuration, or in a variable such as HOME, TMPDIR and XDG_CACHE_HOME.',
  ),
  'project-not-found': usage(
    'There is no folder `evals` or `experiments` here or above.',
    'Change to the folder of the project, or write an eval: docs/evals.md shows how.',
  ),
  'prompt-empty': usage(
    'The prompt is empty.',
    'Give the prompt as an argument, or `-` to read it from standard input.',
  ),
  'protected-paths-unmatched': usage(
    'A pattern in `protected_paths` of a task matches no file, so it protects nothing.',
    'Correct the pattern, or remove it. `whetstone run --dry-run` counts the files of each.',
  ),
  'record-lost': harness(
    'The run directory can no longer be written.',
    'Repair the folder, then resume the run with `--resume`: finished cases are in the journal.',
  ),
  'repo-bare': usage('The repository is bare: it has no files to work on.', 'Clone it, and name the clone.'),
  'repo-missing': usage(
    'The folder that `repo` names does not exist or is not a folder.',
    'Correct the path. In a configuration it is relative to that file.',
  ),
  'repo-not-git': usage(
    'The folder that `repo` names is not a Git repository.',
    'Name another folder, or make it one: git init && git add -A && git commit',
  ),
  'repo-objects-missing': usage(
    'The repository lacks a commit or a part of one: it is partial or damaged, or its history was rewritten.',
    'Fetch what is missing with git fetch --refetch --no-filter, or use a full clone.',
  ),
  'repo-ref-unknown': usage(
    'The repository has no commit, branch or tag of this name.',
    'Correct the name, or fetch the branch first.',
  ),
  'repo-unreadable': usage(
    'Git cannot read the repository.',
    'Check its permissions, and run `git fsck` there.',
  ),
  'repo-without-commit': usage(
    'The repository has no commit yet.',
    'Commit the files that the agents should work on: git add -A && git commit',
  ),
  'resume-changed': usage(
    'The run cannot be resumed, because what its cases depend on has changed since.',
    'Restore the configuration, or start a new run: one run never mixes results of two configurations.',
  ),
  'run-locked': usage(
    'Another process works on this run.',
    'Wait for the process or stop it, then try again. Its lock ends with it.',
  ),
  'run-metric': usage(
    'The runs declare different metrics, or the command is about pass rates and the run declares another metric.',
    'Name runs with the same metric; for plans and calibrations, runs that compare pass rates.',
  ),
  'run-not-found': usage(
    'There is no such run, or the beginning of a name fits several runs.',
    'Give the path of a run directory, a run id, a tag, or "latest".',
  ),
  'run-tampered': harness(
    'Hidden tests, or the tree that every case starts from, were changed while the run worked. The case that was being judged has no result, and no other case was started.',
    'Find out what changed them: that agent, or something beside the run, such as a program that cleans the temporary folder. If the agent did it, use a sandbox that confines it; otherwise use a TMPDIR that nothing cleans. Then resume the run with `--resume`.',
  ),
  'run-unreadable': usage(
    'A file of the run cannot be read: it is damaged, of another version, or not yours to read.',
    'Check who owns the file and who may read it: ls -ld',
  ),
  'run-unsigned': usage(
    'A run could not be signed or its signature not be checked: its files do not fit together, the key cannot be used, or ssh-keygen is missing.',
    'Look with `whetstone verify RUN`, and try the key with `ssh-keygen -Y sign`.',
  ),
  'selection-empty': usage(
    'The filters leave no task to run.',
    'Remove a filter: a task has to match all of them.',
  ),
  'selection-invalid': usage(
    'The number of tasks, trials or jobs is not a whole number from 1.',
    'Give a number that is 1 or more.',
  ),
  'selection-unknown': usage(
    'A filter names an agent, task, variant, category or difficulty that the configuration does not have.',
    'Choose one of the names that the message lists.',
  ),
  'service-not-ready': task(
    'A service of the environment ended, or did not open its port, before the case could begin.',
    'Read the log of the service in the folder of the case, and correct its command.',
  ),
  'statement-not-written': usage(
    'The model of `--write-statement` is refused: its budget is used up, or the provider refuses access or the model.',
    'What was mined is kept. Raise `--statement-budget`, or correct the key or the name of the model, and call again.',
  ),
  'tag-invalid': usage(
    'A text cannot be the tag of a run.',
    'A tag begins with a letter and has letters, digits, ".", "_" and "-", at most 64; "latest" is taken.',
  ),
  'task-folder-empty': usage(
    'A folder that should hold tasks holds none.',
    'Name a folder with a `task.yaml`, or one whose subfolders have one each.',
  ),
  'task-setup-failed': task(
    'A setup command of a task failed before the agent was started.',
    'Run the command in a clean checkout, and correct the task.',
  ),
  'terminal-missing': usage(
    'A command that asks questions has no terminal to ask on.',
    'Run it on a terminal, or leave out the option that asks.',
  ),
  'tests-unknown': task(
    'A task does not name the tests that have to pass, and running them did not show which they are.',
    'Name the ids in `validation.tests.must_pass`, or the patch that solves the task in `gold_patch`.',
  ),
  'try-agent-missing': usage(
    'No agent of this machine can try the file or the skill.',
    'Install one with `whetstone agents install`, set its key or sign in, or name a command with `--agent-command`.',
  ),
  'try-option-invalid': usage(
    'An option of `whetstone try` does not fit the configuration.',
    'See `whetstone try --help`.',
  ),
  'try-subject-invalid': usage(
    'What should be tried is not a file with instructions and not the folder of a skill.',
    'Name a Markdown file such as AGENTS.md, or a folder with a SKILL.md.',
  ),
  'try-tasks-missing': usage(
    'There are no tasks, and the history of the repository gave none.',
    'Write tasks yourself: `whetstone init` makes a file to start from.',
  ),
  'upstream-missing': usage(
    'The gateway should forward calls, but does not know a provider to forward them to.',
    'Set the key variable of a provider, or name a provider and the source of its key.',
  ),
  'view-command-failed': harness(
    'A command that the web page asked for did not end with a result.',
    'Run the same command at a terminal: `whetstone validate-config` or `whetstone run --dry-run`.',
  ),
  'view-files-missing': harness(
    'The files of the web page are not part of this installation.',
    'Install whetstone again; `whetstone report` and `whetstone show` work without the page.',
  ),
  'view-host-invalid': usage(
    'The web page is served to this machine only, because runs hold prompts, patches and logs.',
    'To look from another machine, forward the port with ssh -L.',
  ),
  'view-port-unavailable': usage(
    'The web page cannot be served on this port, most often because the port is in use.',
    'Choose another port with `--port`, or leave it out to take a free one.',
  ),
  'watch-costs': usage(
    'A watch runs cases after each change, and these would call a model that costs money.',
    'Set `gateway` to `mode: script` or `mode: replay`, or run without `--watch`.',
  ),
  'withheld-repository': usage(
    'The configuration names the whole repository as something that no agent may see, for example as `output_dir`.',
    'Name a folder below the repository, or one outside.',
  ),
  'workspace-path-unsafe': usage(
    'A path does not stay inside the workspace, or does not exist on every system.',
    'Use relative paths without `.`, `..`, `.git`, drive letters, device names and backslashes.',
  ),
  'workspace-strategy-unavailable': usage(
    'The chosen way to make workspaces does not work on this machine.',
    'Choose another strategy, or leave it out to take the fastest that works.',
  ),
} as const satisfies Record<string, ErrorEntry>;
