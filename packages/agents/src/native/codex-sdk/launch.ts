import { present } from '@whetstone/events/present';
import { sdkDialogue } from '../../kit/sdk-dialogue.ts';
import { sdkItems } from '../../kit/sdk-items.ts';
import type { Permissions } from '../../policy/permissions.ts';
import { launch as cli } from '../codex-cli/launch.ts';
import type { DialogueTurn, Launch } from '../native-agent.ts';
import type { CodexSdkRequest } from './bridge.ts';
import type { CodexSdkOptions } from './options.ts';

const SANDBOX_MODES = {
  'read-only': 'read-only',
  workspace: 'workspace-write',
  full: 'danger-full-access',
} as const satisfies Record<Permissions['filesystem'], string>;

export const launch: Launch = {
  // The SDK starts Codex CLI, which reads the same settings.
  settings: cli.settings,
  turn: () => [],
  dialogue: sdkDialogue(async (turn) => ({ request: await requestOf(turn) })),
};

async function requestOf(turn: DialogueTurn) {
  const { input, model, workingDirectory, permissions, resume } = turn;
  const options = turn.options as CodexSdkOptions;
  const isOpen = permissions.network === 'open';
  return present({
    items: await sdkItems(input, workingDirectory),
    codex: {
      ...present({ codexPathOverride: options.codex_path }),
      config: { features: { apps: permissions.apps === 'allow', shell_tool: permissions.shell !== 'off' } },
    },
    thread: {
      ...present({
        model,
        modelReasoningEffort: options.reasoning_effort,
        additionalDirectories: options.additional_directories,
      }),
      workingDirectory,
      skipGitRepoCheck: true,
      sandboxMode: SANDBOX_MODES[permissions.filesystem],
      networkAccessEnabled: isOpen,
      webSearchMode: options.web_search ?? (isOpen ? 'live' : 'disabled'),
      // Nobody is there to ask: what the sandbox of Codex does not allow fails.
      approvalPolicy: 'never',
    },
    turn: present({ outputSchema: input.outputSchema }),
    resume: resume ?? options.resume,
  } satisfies Record<keyof CodexSdkRequest, unknown>);
}
