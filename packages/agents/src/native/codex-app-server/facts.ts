import { codexCli } from '../codex-cli/codex-cli.ts';
import type { NativeFacts, Release } from '../native-agent.ts';

export const facts: NativeFacts = {
  ...codexCli.facts,
  inputs: ['image', 'skill', 'mention'],
  enforces: {
    filesystem: ['read-only', 'workspace', 'full'],
    shell: ['off', 'ask', 'allow'],
    network: ['off', 'open'],
    apps: ['off', 'allow'],
  },
};

export const release: Release = { ...codexCli.release, installedAs: codexCli.kind };
