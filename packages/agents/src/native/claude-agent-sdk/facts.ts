import { shellOpensAll } from '../../policy/permissions.ts';
import { facts as cli } from '../claude-code/facts.ts';
import type { NativeFacts, Release } from '../native-agent.ts';

/** The SDK runs Claude Code, which keeps its files where it always does. */
export const facts: NativeFacts = {
  ...cli,
  inputs: ['image'],
  readsWorkspace: ({ setting_sources: sources }) => Array.isArray(sources) && sources.includes('project'),
  enforces: {
    filesystem: ['read-only', 'workspace'],
    shell: ['off', 'ask'],
    network: ['off'],
    apps: ['off'],
    together: shellOpensAll,
  },
};

export const release: Release = {
  package: '@anthropic-ai/claude-agent-sdk',
  program: 'claude-agent-sdk',
  entry: {
    module: '@anthropic-ai/claude-agent-sdk/sdk.mjs',
    bridge: '@whetstone/agents/claude-agent-sdk-bridge',
  },
  wire: 'anthropic-messages',
};
