import type { NativeFacts, Release } from '../native-agent.ts';
import { facts as cli } from '../opencode-cli/facts.ts';
import { opencodeCli } from '../opencode-cli/opencode-cli.ts';

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
    together({ shell, filesystem, network, apps }) {
      const isOpen = filesystem === 'full' && network === 'open';
      if (shell === 'allow' && !isOpen) {
        return 'with shell: allow its commands run outside every permission: write filesystem: full and network: open, too';
      }
      if (apps === 'allow' && !(isOpen && shell === 'allow')) {
        return 'with apps: allow the settings and plugins of the repository can allow anything: write filesystem: full, shell: allow and network: open, too';
      }
      return undefined;
    },
  },
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
