import type { ErrorEntry } from './error-entry.ts';

/** Codes of `whetstone`, the evaluator and the command line. */
export const whetstoneErrors = {
  'capture-failed': {
    class: 'harness',
    meaning: 'What an agent sends to its model could not be captured.',
    fix: 'Check that the program is the agent, and give it a model that it knows: `--model MODEL`.',
  },
  'capture-unwritable': {
    class: 'harness',
    meaning: 'A capture cannot be written to its folder.',
    fix: 'Choose a folder that you may write to.',
  },
  'case-not-found': {
    class: 'usage',
    meaning: 'The run has no case of this name, or the beginning of a name fits several cases.',
    fix: 'Give the whole name of one case; `whetstone show RUN` lists them.',
  },
  'cassette-exists': {
    class: 'usage',
    meaning: 'Cases that should be recorded have a recording already.',
    fix: 'Name another folder in `gateway.cassettes`, or remove the old recordings.',
  },
  'cassette-missing': {
    class: 'usage',
    meaning: 'Cases that should be replayed have no recording.',
    fix: 'Record them with `gateway.mode: record`, select the recorded cases, or choose the same trials.',
  },
  'config-invalid': {
    class: 'usage',
    meaning: 'The configuration or a task file has errors.',
    fix: 'Correct what each diagnostic names; `whetstone validate-config` checks again.',
  },
  'config-not-found': {
    class: 'usage',
    meaning: 'There is no configuration file here.',
    fix: 'Write one with `whetstone init`, or name yours with `-c FILE`.',
  },
  'directory-not-found': {
    class: 'usage',
    meaning: 'The working directory does not exist or is not a directory.',
    fix: 'Name the working directory with `--cd DIR`.',
  },
  'disk-full': {
    class: 'harness',
    meaning: 'No space is left on the disk for results or workspaces.',
    fix: 'Free some space, then resume the run with `--resume`: finished cases are kept.',
  },
  'error-code-unknown': {
    class: 'usage',
    meaning: 'There is no error code of this name.',
    fix: 'List the codes with `whetstone errors`.',
  },
  'fault-invalid': {
    class: 'usage',
    meaning: 'A fault for the gateway to inject is not written as it should be.',
    fix: 'Write it as KIND=VALUE@OCCASION, for example `--fault 429@first=2`.',
  },
  'file-not-found': {
    class: 'usage',
    meaning: 'A file that should be read does not exist or is not a regular file.',
    fix: 'Name a file that exists, or `-` for standard input.',
  },
  'gateway-ambiguous': {
    class: 'usage',
    meaning: 'Several gateways run, and the command does not say which one it means.',
    fix: 'Name one with `--gateway URL`.',
  },
  'gateway-not-running': {
    class: 'usage',
    meaning: 'No gateway of yours runs, or none at the given address.',
    fix: 'Start one with `whetstone gateway --mode MODE`, or name one with `--gateway URL --key KEY`.',
  },
  'gateway-option-invalid': {
    class: 'usage',
    meaning: 'An option of `whetstone gateway` is missing, or does not fit the others.',
    fix: 'See `whetstone gateway --help`.',
  },
  'gateway-state-unwritable': {
    class: 'harness',
    meaning: 'The file with which other commands find a running gateway cannot be written.',
    fix: 'Set XDG_CACHE_HOME to a folder that you may write to.',
  },
  'git-failed': {
    class: 'harness',
    meaning: 'A git command failed.',
    fix: 'Read what git said, and check the repository with `git fsck`.',
  },
  'git-missing': {
    class: 'usage',
    meaning: 'The program git was not found.',
    fix: 'Install git 2.32 or newer and put it in the PATH.',
  },
  'init-exists': {
    class: 'usage',
    meaning: '`whetstone init` would overwrite a file.',
    fix: 'Choose another `--directory`, or overwrite the files with `--force`.',
  },
  'output-unwritable': {
    class: 'usage',
    meaning: 'The folder for results cannot be written.',
    fix: 'Set `output_dir` in the configuration to a folder that you may write to.',
  },
  'overlay-source-missing': {
    class: 'task',
    meaning: 'A file or folder that a variant or a task copies into the workspace does not exist.',
    fix: 'Correct the path: paths in a configuration are relative to the file that holds them.',
  },
  'overlay-source-unreadable': {
    class: 'task',
    meaning: 'A file or folder that a variant or a task names cannot be copied into the workspace.',
    fix: 'Check its permissions, and that it holds regular files, folders and links only.',
  },
  'prompt-empty': {
    class: 'usage',
    meaning: 'The prompt is empty.',
    fix: 'Give the prompt as an argument, or `-` to read it from standard input.',
  },
  'record-lost': {
    class: 'harness',
    meaning: 'The run directory can no longer be written.',
    fix: 'Repair the folder, then resume the run with `--resume`: finished cases are in the journal.',
  },
  'repo-bare': {
    class: 'usage',
    meaning: 'The repository is bare: it has no files to work on.',
    fix: 'Clone it, and name the clone.',
  },
  'repo-missing': {
    class: 'usage',
    meaning: 'The folder that `repo` names does not exist or is not a folder.',
    fix: 'Correct the path: it is relative to the configuration file.',
  },
  'repo-not-git': {
    class: 'usage',
    meaning: 'The folder that `repo` names is not a Git repository.',
    fix: 'Name another folder, or make it one: git init && git add -A && git commit',
  },
  'repo-objects-missing': {
    class: 'usage',
    meaning: 'The repository does not hold everything that a commit needs: it is partial or damaged.',
    fix: 'Fetch what is missing with git fetch --refetch, or use a full clone.',
  },
  'repo-ref-unknown': {
    class: 'usage',
    meaning: 'The repository has no commit, branch or tag of this name.',
    fix: 'Correct the name, or fetch the branch first.',
  },
  'repo-unreadable': {
    class: 'usage',
    meaning: 'Git cannot read the repository.',
    fix: 'Check its permissions, and run `git fsck` there.',
  },
  'repo-without-commit': {
    class: 'usage',
    meaning: 'The repository has no commit yet.',
    fix: 'Commit the files that the agents should work on: git add -A && git commit',
  },
  'resume-changed': {
    class: 'usage',
    meaning: 'The run cannot be resumed, because what its cases depend on has changed since.',
    fix: 'Restore the configuration, or start a new run: one run never mixes results of two configurations.',
  },
  'run-locked': {
    class: 'usage',
    meaning: 'Another process works on this run.',
    fix: 'Wait for the process or stop it, then try again.',
  },
  'run-not-found': {
    class: 'usage',
    meaning: 'There is no such run, or the beginning of a name fits several runs.',
    fix: 'Give the path of a run directory, a run id, or "latest".',
  },
  'run-unreadable': {
    class: 'usage',
    meaning: 'A file of the run cannot be read: it is damaged, of another version, or not yours to read.',
    fix: 'Check who owns the file and who may read it: ls -ld',
  },
  'selection-empty': {
    class: 'usage',
    meaning: 'The filters leave no task to run.',
    fix: 'Remove a filter: a task has to match all of them.',
  },
  'selection-invalid': {
    class: 'usage',
    meaning: 'The number of tasks, trials or jobs is not a whole number from 1.',
    fix: 'Give a number that is 1 or more.',
  },
  'selection-unknown': {
    class: 'usage',
    meaning:
      'A filter names an agent, task, variant, category or difficulty that the configuration does not have.',
    fix: 'Choose one of the names that the message lists.',
  },
  'task-setup-failed': {
    class: 'task',
    meaning: 'A setup command of a task failed before the agent was started.',
    fix: 'Run the command in a clean checkout, and correct the task.',
  },
  'upstream-missing': {
    class: 'usage',
    meaning: 'The gateway should forward calls, and knows no provider to forward them to.',
    fix: 'Set the key variable of a provider, or name a provider and the source of its key.',
  },
  'view-files-missing': {
    class: 'harness',
    meaning: 'The files of the web page are not part of this installation.',
    fix: 'Install whetstone again; `whetstone report` and `whetstone show` work without the page.',
  },
  'view-host-invalid': {
    class: 'usage',
    meaning: 'The web page is served to this machine only, because runs hold prompts, patches and logs.',
    fix: 'To look from another machine, forward the port with ssh -L.',
  },
  'view-port-unavailable': {
    class: 'usage',
    meaning: 'The web page cannot be served on this port, most often because the port is in use.',
    fix: 'Choose another port with `--port`, or leave it out to take a free one.',
  },
  'workspace-path-unsafe': {
    class: 'usage',
    meaning: 'A path does not stay inside the workspace, or does not exist on every system.',
    fix: 'Use relative paths without `.`, `..`, `.git`, drive letters, device names and backslashes.',
  },
  'workspace-strategy-unavailable': {
    class: 'usage',
    meaning: 'The chosen way to make workspaces does not work on this machine.',
    fix: 'Choose another strategy, or leave it out to take the fastest that works.',
  },
} as const satisfies Record<string, ErrorEntry>;
