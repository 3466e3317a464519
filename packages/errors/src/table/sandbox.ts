import { type ErrorEntry, sandbox, usage } from './error-entry.ts';

/** Codes of `@whetstone/sandbox`. */
export const sandboxErrors = {
  'sandbox-cleanup-failed': sandbox(
    'The temporary folder of a sandbox could not be removed.',
    'Remove the folder by hand.',
  ),
  'sandbox-command-stuck': sandbox(
    'A command was killed and still does not end.',
    'Look for a process that hangs in the kernel, most often on a network file system.',
  ),
  'sandbox-cwd-invalid': sandbox(
    'The working directory of a command does not exist or is not a folder.',
    'Check whether a command of the task or the agent removed it.',
  ),
  'sandbox-file-irregular': sandbox(
    'A path that should be read or written is not a regular file.',
    'Use the path of a regular file.',
  ),
  'sandbox-file-too-large': sandbox(
    'A file is larger than a sandbox reads at once.',
    'Read a part of the file with a command.',
  ),
  'sandbox-image-missing': usage(
    'The sandbox `docker` was chosen, and no image is named for its containers.',
    'Name the image in the configuration: `sandbox: { provider: docker, image: NAME }`.',
  ),
  'sandbox-needs-gateway': usage(
    'In a sealed sandbox an agent reaches its model only through the gateway, and this agent does not use it.',
    'Add a `gateway` to the configuration and let the agent use it, or choose `sandbox: process`.',
  ),
  'sandbox-nested': usage(
    'With its permissions the agent confines its commands itself, and no program can do that in a sealed sandbox.',
    'Give the agent open permissions, because the sealed sandbox confines it, or choose `sandbox: process`.',
  ),
  'sandbox-output-unwritable': sandbox(
    'The output of a command could not be written to its file.',
    'Check that the folder exists and is writable, and that the disk is not full.',
  ),
  'sandbox-path-outside': sandbox(
    'A path leads out of the folder that it belongs to.',
    'Use a path without `..` that passes through no symbolic link to the outside.',
  ),
  'sandbox-root-unavailable': sandbox(
    'A command should run as root, and Whetstone does not run as root.',
    'Prepare the machine beforehand, or run Whetstone as root.',
  ),
  'sandbox-start-failed': sandbox(
    'The system could not start a command.',
    'Check the limits on memory, processes, open files and disk space.',
  ),
  'sandbox-stopped': sandbox(
    'A command was started in a sandbox that was stopped before.',
    'Start commands before the sandbox is stopped.',
  ),
  'sandbox-unavailable': sandbox(
    'This machine does not have what the chosen sandbox needs.',
    'Install what the message names, or choose another sandbox.',
  ),
  'sandbox-unknown': usage(
    'There is no sandbox provider of this name.',
    'Choose one of the providers that the message lists.',
  ),
} as const satisfies Record<string, ErrorEntry>;
