import { defineConfig } from 'vitest/config';
import { LongFilesFirst } from './scripts/long-files-first.ts';
import { testNeeds } from './scripts/test-needs.ts';
import everyday from './vitest.config.ts';
import { secondAttempt } from './vitest.slow.config.ts';

/** Released agents, installed from the registry: slow, and with a command of their own. */
export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.agents.test.ts', 'examples/**/*.agents.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    globalSetup: ['examples/real-agents/install.ts'],
    testTimeout: 300_000,
    hookTimeout: 600_000,
    retry: secondAttempt,
    pool: 'forks',
    experimental: { viteModuleRunner: false },
    sequence: { sequencer: LongFilesFirst },
    env: everyday.test?.env ?? {},
    // The agents wait for each other and for time limits, more than for the processor.
    maxWorkers: 3,
    tags: testNeeds,
    reporters: ['default', './scripts/closing-reporter.ts'],
  },
});
