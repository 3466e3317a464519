import type { ErrorEntry } from './error-entry.ts';

/** Codes of `@whetstone/sandbox`. */
export const sandboxErrors = {
  'sandbox-cleanup-failed': {
    class: 'sandbox',
    meaning: 'The temporary folder of a sandbox could not be removed.',
    fix: 'Remove the folder by hand.',
  },
  'sandbox-command-stuck': {
    class: 'sandbox',
    meaning: 'A command was killed and still does not end.',
    fix: 'Look for a process that hangs in the kernel, most often on a network file system.',
  },
  'sandbox-cwd-invalid': {
    class: 'sandbox',
    meaning: 'The working directory of a command does not exist or is not a folder.',
    fix: 'Check whether a command of the task or the agent removed it.',
  },
  'sandbox-file-irregular': {
    class: 'sandbox',
    meaning: 'A path that should be read or written is not a regular file.',
    fix: 'Use the path of a regular file.',
  },
  'sandbox-file-too-large': {
    class: 'sandbox',
    meaning: 'A file is larger than a sandbox reads at once.',
    fix: 'Read a part of the file with a command.',
  },
  'sandbox-output-unwritable': {
    class: 'sandbox',
    meaning: 'The output of a command could not be written to its file.',
    fix: 'Check that the folder exists and is writable, and that the disk is not full.',
  },
  'sandbox-path-outside': {
    class: 'sandbox',
    meaning: 'A path leads out of the folder that it belongs to.',
    fix: 'Use a path without `..` that passes through no symbolic link to the outside.',
  },
  'sandbox-root-unavailable': {
    class: 'sandbox',
    meaning: 'A command should run as root, and Whetstone does not run as root.',
    fix: 'Prepare the machine beforehand, or run Whetstone as root.',
  },
  'sandbox-start-failed': {
    class: 'sandbox',
    meaning: 'The system could not start a command.',
    fix: 'Check the limits on memory, processes, open files and disk space.',
  },
  'sandbox-stopped': {
    class: 'sandbox',
    meaning: 'A command was started in a sandbox that was stopped before.',
    fix: 'Start commands before the sandbox is stopped.',
  },
  'sandbox-unavailable': {
    class: 'sandbox',
    meaning: 'This machine does not have what the chosen sandbox needs.',
    fix: 'Install what the message names, or choose another sandbox.',
  },
  'sandbox-unknown': {
    class: 'usage',
    meaning: 'There is no sandbox provider of this name.',
    fix: 'Choose one of the providers that the message lists.',
  },
} as const satisfies Record<string, ErrorEntry>;
