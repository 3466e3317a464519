import { type Permissions, shellOpensAll } from '../../policy/permissions.ts';
import type { AttachFacts, NativeFacts, Release } from '../native-agent.ts';
import { facts as cli } from '../opencode-cli/facts.ts';
import { opencodeCli } from '../opencode-cli/opencode-cli.ts';

/** Whether nothing is left to decide. */
export const isOpen = ({ shell, filesystem, network }: Permissions): boolean =>
  shell === 'allow' && filesystem === 'full' && network === 'open';

/** The SDK talks to the server of OpenCode, which keeps its files where OpenCode always does. */
export const facts: NativeFacts = {
  ...cli,
  inputs: ['image'],
  structuredOutput: true,
  enforces: {
    filesystem: ['read-only', 'workspace'],
    shell: ['off', 'ask'],
    network: ['off'],
    apps: ['off'],
    together(permissions) {
      const conflict = shellOpensAll(permissions);
      if (conflict !== undefined || permissions.apps === 'off' || isOpen(permissions)) return conflict;
      return 'with apps: allow the settings and plugins of the repository can allow anything: write filesystem: full, shell: allow and network: open, too';
    },
  },
};

/** The server has plugins and apps of its own. Each session that Whetstone opens there has rules of its own. */
export const attaches: AttachFacts = {
  option: 'server_url',
  enforces: {
    filesystem: ['read-only', 'workspace'],
    shell: ['off', 'ask'],
    network: ['off'],
    together: shellOpensAll,
  },
  model: { pattern: /^[^/]+\/./, example: 'anthropic/claude-sonnet-4-5' },
};

export const release: Release = {
  package: '@opencode-ai/sdk',
  program: 'opencode-sdk',
  entry: {
    module: '@opencode-ai/sdk/dist/v2/index.js',
    bridge: '@whetstone/agents/opencode-sdk-bridge',
  },
  starts: opencodeCli,
  wire: opencodeCli.release.wire,
};
