import type { NativeFacts, Release } from '../native-agent.ts';

export const facts: NativeFacts = {
  instructions: 'AGENTS.md',
  skills: '.invented/skills',
  mcpServers: false,
  structuredOutput: false,
  sessions: 'session id',
};

export const release: Release = {
  package: '@example/invented',
  program: 'invented',
  entry: { script: '@example/invented/cli.js' },
  wire: 'openai-chat-completions',
};
