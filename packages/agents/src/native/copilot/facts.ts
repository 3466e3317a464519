import { closedOnlyWithoutShell } from '../../policy/permissions.ts';
import { type NativeFacts, PASSED_PLUGINS, type Release } from '../native-agent.ts';

/** For individual plans; `base_url` names the address of another plan. */
const GITHUB = 'https://api.githubcopilot.com';

export const facts: NativeFacts = {
  instructions: 'AGENTS.md',
  reads: [
    { path: '.github/copilot-instructions.md' },
    { path: 'AGENTS.md' },
    { path: 'AGENTS.MD', hiddenBy: ['AGENTS.md'] },
    { path: 'CLAUDE.md' },
    { path: 'CLAUDE.MD', hiddenBy: ['CLAUDE.md'] },
    { path: 'GEMINI.md' },
    { path: '.github/instructions' },
    { path: '.claude/rules' },
  ],
  imports: true,
  skills: '.copilot/skills',
  mcpServers: true,
  plugins: {
    folder: PASSED_PLUGINS,
    // Copilot takes plugins that were made for Claude Code.
    manifests: [
      { path: 'plugin.json' },
      { path: '.plugin/plugin.json' },
      { path: '.github/plugin/plugin.json' },
      { path: '.claude-plugin/plugin.json' },
    ],
  },
  structuredOutput: false,
  sessions: 'session id',
  enforces: {
    filesystem: ['read-only', 'workspace'],
    shell: ['off'],
    network: ['off'],
    together: closedOnlyWithoutShell,
  },
  login: {
    variables: ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN'],
    // Its models speak different wires at one address.
    upstreams: {
      'openai-chat-completions': GITHUB,
      'openai-responses': GITHUB,
      'anthropic-messages': GITHUB,
    },
    signIn: 'export COPILOT_GITHUB_TOKEN=$(gh auth token)',
  },
};

export const release: Release = {
  package: '@github/copilot',
  program: 'copilot',
  entry: { native: '@github/copilot-PLATFORM/copilot' },
  unpacking: (folder) => ({ COPILOT_PKG_CACHE_HOME: folder, COPILOT_SEA_EXTRACT_ONLY: '1' }),
  wire: 'openai-chat-completions',
  needsModel: 'Copilot only chooses a model for a GitHub login',
};
