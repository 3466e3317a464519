import { closedOnlyWithoutShell } from '../../policy/permissions.ts';
import type { NativeFacts, Release } from '../native-agent.ts';

export const facts: NativeFacts = {
  instructions: 'QWEN.md',
  reads: [{ path: 'QWEN.md' }, { path: 'AGENTS.md' }, { path: '.qwen/rules' }],
  imports: true,
  readsAbove: ['QWEN.md', 'AGENTS.md', '.env', '.qwen/.env'],
  skills: '.qwen/skills',
  projectSkills: '.qwen/skills',
  mcpServers: true,
  plugins: { folder: '.qwen/extensions/NAME', manifests: [{ path: 'qwen-extension.json' }] },
  structuredOutput: true,
  sessions: 'session id',
  enforces: {
    filesystem: ['read-only'],
    shell: ['off'],
    network: ['off'],
    together: closedOnlyWithoutShell,
  },
  login: {
    upstreams: {},
    signIn: 'qwen',
    ended: 'its maker ended the free logins of Qwen Code on 15 April 2026, and the program refuses them',
  },
  retries: { setting: 'model.generationConfig.maxRetries in .qwen/settings.json' },
};

export const release: Release = {
  package: '@qwen-code/qwen-code',
  program: 'qwen',
  entry: { script: '@qwen-code/qwen-code/cli-entry.js' },
  wire: 'openai-chat-completions',
};
