import { type ErrorEntry, harness, usage } from './error-entry.ts';

/** Codes of `@whetstone/agents`. */
export const agentErrors = {
  'agent-adapter-failed': harness(
    'An adapter threw an error, or returned something that is not a turn.',
    'Correct the adapter. A failure of the agent itself is a turn with status: "failed".',
  ),
  'agent-capability-missing': usage(
    'A task asks for something that the agent cannot do, for example several turns.',
    'Declare the capability in the adapter if the agent has it, or choose other tasks or agents.',
  ),
  'agent-form-unknown': usage(
    'Whetstone cannot read this form of output of this agent.',
    'Leave `--form` out, or choose the form that the agent has: stream or transcript.',
  ),
  'agent-install-failed': usage(
    'npm could not install an agent, or its makers publish no program for this machine.',
    'Check the version and the network, or install the agent yourself and leave `version` out.',
  ),
  'agent-key-missing': usage(
    'An agent needs a key for its model, and the variable that should hold it is not set.',
    'Set the variable, name another one in `api_key_env`, or use a gateway, which holds the key itself.',
  ),
  'agent-kind-unknown': usage(
    'There is no agent of this kind.',
    'Choose one of the kinds that `whetstone agents list` shows.',
  ),
  'agent-kind-wrong': usage(
    'The output of an agent is read as that of another kind.',
    'Name the kind that the message says: in `whetstone agents parse KIND`, or in `kind:` or `telemetry.collector` of the agent.',
  ),
  'agent-login-missing': usage(
    'An agent should use the login of its own program (`auth: login`), and you have none that a case can use.',
    'Sign in with the program first, or write `auth: api-key` and set a key.',
  ),
  'agent-model-missing': usage(
    'The configuration names no model for an agent whose program has none of its own.',
    'Add `model:` to the agent.',
  ),
  'agent-module-invalid': usage(
    'The module of an agent cannot be loaded, or its default export is not an agent.',
    'Export an agent made with defineAgent or defineSandboxAgent as the default export.',
  ),
  'agent-not-installed': usage(
    'The program of an agent is not installed, or not in the version that the configuration names.',
    'Install it with `whetstone agents install KIND`.',
  ),
  'agent-option-unknown': usage(
    'An agent is given an option that its kind does not have, or a value that the option cannot have.',
    'Choose one of the options that the page of the kind lists.',
  ),
  'agent-server-unusable': harness(
    'An agent works on a server of yours, which does not answer, refuses the password, has a version that is too old, or does not see the workspace.',
    'Start the server on this machine, and check the address and OPENCODE_SERVER_PASSWORD in `env` of the agent.',
  ),
  'agent-session-missing': harness(
    'A later turn has no session to resume: none was reported, or the stored one cannot be read.',
    'Set `session.id` in the first turn of the adapter, or begin a new session with `isNew: true`.',
  ),
  'agent-transcript-unreadable': harness(
    'A transcript that the agent keeps of its work could not be read.',
    'Check that the transcript exists and that the sandbox may read it.',
  ),
  'env-missing': usage(
    'An environment variable that the configuration or an adapter needs is not set, or empty.',
    'Set the variable before you start Whetstone.',
  ),
  'fixture-commit-failed': harness(
    'Git could not commit the files that an adapter placed in a workspace.',
    'Read what Git said, and check the disk space and the permissions of the workspace.',
  ),
  'fixture-invalid': usage(
    'A fixture holds something other than regular files and folders.',
    'Replace each link by the file that it points to.',
  ),
  'inherit-missing': usage(
    'A file that an agent should inherit from your home does not exist or cannot be read.',
    'Name files and folders that are in your home, or leave `inherit` out.',
  ),
  'input-unsupported': usage(
    'A prompt has a part, such as an image, that its agent cannot be given.',
    'Leave the part out, or choose an agent that takes it.',
  ),
  'mcp-value-unsupported': usage(
    'An agent would change a value of an MCP server instead of passing it on as it is.',
    'Choose another value, or start the server with a program that sets it.',
  ),
  'permission-unenforceable': usage(
    'An agent should be held to a permission or to rules that it cannot be held to.',
    'Choose a value that docs/agents/permissions.md lists for the agent, or another agent.',
  ),
  'template-invalid': usage(
    'A command template is not valid, for example because it names an unknown variable.',
    'Correct the template; docs/configuration.md lists the variables.',
  ),
  'template-value-invalid': usage(
    'A value cannot be put into a command: it is missing, too long, or holds a NUL character.',
    'Remove the variable from the command, or pass long texts as a file with {prompt_file}.',
  ),
} as const satisfies Record<string, ErrorEntry>;
