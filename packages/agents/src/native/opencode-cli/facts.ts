import { type NativeFacts, PASSED_PLUGINS, type Release } from '../native-agent.ts';

export const facts: NativeFacts = {
  instructions: 'AGENTS.md',
  skills: '.config/opencode/skills',
  mcpServers: true,
  plugins: {
    folder: PASSED_PLUGINS,
    manifests: [
      {
        path: 'package.json',
        holds: {
          what: 'main, or ./server in exports',
          isIn: ({ main, exports }) =>
            typeof main === 'string' ||
            (typeof exports === 'object' && exports !== null && Object.hasOwn(exports, './server')),
        },
      },
    ],
  },
  structuredOutput: false,
  sessions: 'session id',
};

export const release: Release = {
  package: 'opencode-ai',
  program: 'opencode',
  entry: { native: 'opencode-PLATFORM/bin/opencode' },
  wire: 'openai-chat-completions',
  defaultModel: 'qwen3-coder-plus',
};
