import { facts as cli } from '../codex-cli/facts.ts';
import type { NativeFacts, Release } from '../native-agent.ts';

/** The SDK runs Codex CLI, which keeps its files where it always does, and can be held to the same. */
export const facts: NativeFacts = {
  ...cli,
  inputs: ['image'],
  // The SDK has no callback for it: what the sandbox of Codex does not allow fails.
  asksNothing: true,
};

export const release: Release = {
  package: '@openai/codex-sdk',
  program: 'codex-sdk',
  entry: { module: '@openai/codex-sdk/dist/index.js', bridge: '@whetstone/agents/codex-sdk-bridge' },
  wire: 'openai-responses',
};
