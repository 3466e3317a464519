import type { Permissions } from '../../policy/permissions.ts';
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
  enforces: {
    filesystem: ['read-only', 'workspace'],
    shell: ['off'],
    network: ['off'],
    apps: ['off'],
    together: sandboxConflict,
    ownSandbox: ({ filesystem }) => filesystem !== 'full',
  },
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

/** Codex's sandbox confines the files and the network at once. */
function sandboxConflict({ filesystem, network }: Permissions): string | undefined {
  if (filesystem === 'full' && network === 'off')
    return 'its sandbox closes the network only together with the file system: write filesystem: workspace, too';
  if (filesystem === 'read-only' && network === 'open')
    return 'its read-only sandbox has no network: write network: off, too';
  return undefined;
}
