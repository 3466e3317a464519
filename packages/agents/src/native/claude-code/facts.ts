import { closedOnlyWithoutShell } from '../../policy/permissions.ts';
import { type NativeFacts, PASSED_PLUGINS, type Release } from '../native-agent.ts';

export const facts: NativeFacts = {
  instructions: 'CLAUDE.md',
  reads: [
    { path: 'CLAUDE.md' },
    { path: '.claude/CLAUDE.md' },
    { path: '.claude/rules' },
    { path: 'CLAUDE.local.md' },
    { path: 'AGENTS.md', hiddenBy: ['CLAUDE.md', '.claude/CLAUDE.md', 'CLAUDE.local.md'] },
    { path: '.claude/AGENTS.md', hiddenBy: ['CLAUDE.md', '.claude/CLAUDE.md', 'CLAUDE.local.md'] },
  ],
  readsBelow: true,
  imports: true,
  readsAbove: [
    'AGENTS.md',
    'CLAUDE.md',
    'CLAUDE.local.md',
    '.claude/AGENTS.md',
    '.claude/CLAUDE.md',
    '.claude/rules',
    '.mcp.json',
  ],
  skills: '.claude/skills',
  projectSkills: '.claude/skills',
  mcpServers: true,
  plugins: { folder: PASSED_PLUGINS, manifests: [{ path: '.claude-plugin/plugin.json' }] },
  structuredOutput: true,
  sessions: 'session id',
  enforces: {
    filesystem: ['read-only', 'workspace'],
    shell: ['off'],
    network: ['off'],
    apps: ['off'],
    together: closedOnlyWithoutShell,
  },
  login: {
    variables: ['CLAUDE_CODE_OAUTH_TOKEN'],
    file: {
      path: '.claude/.credentials.json',
      movedBy: { variable: 'CLAUDE_CONFIG_DIR', folder: '.claude' },
      entries: ['claudeAiOauth'],
    },
    upstreams: { 'anthropic-messages': 'https://api.anthropic.com' },
    signIn: 'claude setup-token',
  },
  retries: { variable: 'CLAUDE_CODE_MAX_RETRIES' },
};

export const release: Release = {
  package: '@anthropic-ai/claude-code',
  program: 'claude',
  entry: { native: '@anthropic-ai/claude-code-PLATFORM/claude' },
  wire: 'anthropic-messages',
};
