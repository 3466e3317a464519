import { closedOnlyWithoutShell } from '../../policy/permissions.ts';
import type { NativeFacts, Release } from '../native-agent.ts';

export const facts: NativeFacts = {
  instructions: 'GEMINI.md',
  reads: [{ path: 'GEMINI.md' }],
  readsBelow: true,
  imports: true,
  readsAbove: ['.env', '.gemini/.env'],
  skills: '.gemini/skills',
  mcpServers: true,
  plugins: { folder: '.gemini/extensions/NAME', manifests: [{ path: 'gemini-extension.json' }] },
  structuredOutput: false,
  sessions: 'session id',
  enforces: {
    filesystem: ['read-only', 'workspace'],
    shell: ['off'],
    network: ['off'],
    together: closedOnlyWithoutShell,
  },
  login: {
    file: {
      path: '.gemini/oauth_creds.json',
      movedBy: { variable: 'GEMINI_CLI_HOME', folder: '' },
    },
    upstreams: {},
    signIn: 'gemini',
  },
  retries: { setting: 'general.maxAttempts in .gemini/settings.json' },
};

export const release: Release = {
  package: '@google/gemini-cli',
  program: 'gemini',
  entry: { script: '@google/gemini-cli/bundle/gemini.js' },
  wire: 'gemini-generate-content',
};
