import { closedOnlyWithoutShell } from '../../policy/permissions.ts';
import { type NativeFacts, PASSED_PLUGINS, type Release } from '../native-agent.ts';

export const facts: NativeFacts = {
  instructions: 'AGENTS.md',
  reads: [
    { path: 'AGENTS.md' },
    { path: 'CLAUDE.md', hiddenBy: ['AGENTS.md'] },
    { path: 'CONTEXT.md', hiddenBy: ['AGENTS.md', 'CLAUDE.md'] },
  ],
  readsBelow: true,
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
  enforces: {
    filesystem: ['read-only'],
    shell: ['off'],
    network: ['off'],
    together: closedOnlyWithoutShell,
  },
  login: {
    file: {
      path: '.local/share/opencode/auth.json',
      movedBy: { variable: 'XDG_DATA_HOME', folder: '.local/share' },
    },
    upstreams: {},
    signIn: 'opencode auth login',
  },
};

export const release: Release = {
  package: 'opencode-ai',
  program: 'opencode',
  entry: { native: 'opencode-PLATFORM/bin/opencode' },
  wire: 'openai-chat-completions',
};
