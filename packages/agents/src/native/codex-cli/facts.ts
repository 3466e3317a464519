import type { NativeFacts, Release } from '../native-agent.ts';

export const facts: NativeFacts = {
  instructions: 'AGENTS.md',
  reads: [{ path: 'AGENTS.override.md' }, { path: 'AGENTS.md', hiddenBy: ['AGENTS.override.md'] }],
  skills: '.codex/skills',
  mcpServers: true,
  plugins: {
    folder: '.codex/plugins/cache/local/NAME/local',
    // Codex takes plugins that were made for Claude Code.
    manifests: [{ path: '.codex-plugin/plugin.json' }, { path: '.claude-plugin/plugin.json' }],
  },
  structuredOutput: true,
  sessions: 'session id',
  login: {
    file: {
      path: '.codex/auth.json',
      movedBy: { variable: 'CODEX_HOME', folder: '.codex' },
      entries: ['tokens'],
    },
    upstreams: { 'openai-responses': 'https://chatgpt.com/backend-api' },
    signIn: 'codex login',
  },
  retries: {
    setting: 'request_max_retries and stream_max_retries of the model provider in .codex/config.toml',
  },
};

export const release: Release = {
  package: '@openai/codex',
  program: 'codex',
  entry: { native: '@openai/codex-PLATFORM/vendor/*/bin/codex' },
  wire: 'openai-responses',
};
