import { codexCli } from '../codex-cli/codex-cli.ts';
import type { NativeFacts, Release } from '../native-agent.ts';
import { sandboxPolicyOf } from './confinement.ts';

export const facts: NativeFacts = {
  ...codexCli.facts,
  inputs: ['image', 'skill', 'mention'],
  enforces: {
    filesystem: ['read-only', 'workspace', 'full'],
    shell: ['off', 'ask', 'allow'],
    network: ['off', 'open'],
    apps: ['off', 'allow'],
    // A command that it asks for runs outside of its sandbox where that cannot be made.
    ownSandbox: (permissions) =>
      permissions.shell !== 'ask' && sandboxPolicyOf(permissions).type !== 'dangerFullAccess',
  },
};

export const release: Release = { ...codexCli.release, installedAs: codexCli.kind };
