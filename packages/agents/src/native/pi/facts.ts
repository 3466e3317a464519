import { type NativeFacts, PASSED_PLUGINS, type Release } from '../native-agent.ts';

export const facts: NativeFacts = {
  instructions: 'AGENTS.md',
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
};

export const release: Release = {
  package: '@earendil-works/pi-coding-agent',
  program: 'pi',
  entry: { script: '@earendil-works/pi-coding-agent/dist/bundle/cli.js' },
  wire: 'anthropic-messages',
  defaultModel: 'claude-sonnet-4-5',
};
