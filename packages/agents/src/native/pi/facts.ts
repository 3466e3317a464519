import { closedOnlyWithoutShell } from '../../policy/permissions.ts';
import { type NativeFacts, PASSED_PLUGINS, type Release } from '../native-agent.ts';

export const facts: NativeFacts = {
  instructions: 'AGENTS.md',
  reads: [
    { path: 'AGENTS.override.md' },
    { path: 'AGENTS.md', hiddenBy: ['AGENTS.override.md'] },
    { path: 'AGENTS.MD', hiddenBy: ['AGENTS.override.md', 'AGENTS.md'] },
    { path: 'CLAUDE.md', hiddenBy: ['AGENTS.override.md', 'AGENTS.md', 'AGENTS.MD'] },
    { path: 'CLAUDE.MD', hiddenBy: ['AGENTS.override.md', 'AGENTS.md', 'AGENTS.MD', 'CLAUDE.md'] },
  ],
  readsAbove: ['AGENTS.md', 'AGENTS.MD', 'AGENTS.override.md', 'CLAUDE.md', 'CLAUDE.MD'],
  skills: '.pi/agent/skills',
  mcpServers: false,
  plugins: {
    folder: PASSED_PLUGINS,
    manifests: [
      {
        path: 'package.json',
        holds: { what: 'pi', isIn: ({ pi }) => typeof pi === 'object' && pi !== null },
      },
    ],
  },
  structuredOutput: false,
  sessions: 'session id',
  enforces: {
    filesystem: ['read-only'],
    shell: ['off'],
    network: ['off'],
    apps: ['off'],
    together: closedOnlyWithoutShell,
  },
  login: {
    file: {
      path: '.pi/agent/auth.json',
      movedBy: { variable: 'PI_CODING_AGENT_DIR', folder: '.pi/agent' },
      entries: ['anthropic', 'openai-codex'],
    },
    upstreams: {
      'anthropic-messages': 'https://api.anthropic.com',
      'openai-responses': 'https://chatgpt.com/backend-api',
    },
    signIn: 'pi, then /login',
  },
};

export const release: Release = {
  package: '@earendil-works/pi-coding-agent',
  program: 'pi',
  entry: { script: '@earendil-works/pi-coding-agent/dist/bundle/cli.js' },
  wire: 'anthropic-messages',
};
