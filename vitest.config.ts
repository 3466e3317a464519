import { defineConfig } from 'vitest/config';
import { compileCache } from './scripts/compile-cache.ts';
import { LongFilesFirst } from './scripts/long-files-first.ts';
import { testNeeds } from './scripts/test-needs.ts';

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts', 'examples/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', '**/*.{agents,slow}.test.ts'],
    globalSetup: ['scripts/tests-in-memory.ts', 'scripts/compile-cache.ts', 'scripts/direct-python.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What a test waits for may take long on a busy machine. Nothing is asserted about how long.
    expect: { poll: { timeout: 30_000 } },
    pool: 'forks',
    // A process for each worker, not for each file: to start one and to load the modules is much of what a file costs.
    // So a test restores what it changes in its process.
    isolate: false,
    // Node runs our TypeScript as it stands. Vite would compile each module once more, and its imports run slower.
    // No test replaces a module, so that nothing has to look for that in each file.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Each import of a worker is resolved and reported once, not in each file.
    environment: './scripts/worker-environment.ts',
    sequence: { sequencer: LongFilesFirst },
    // A worker runs many files, and what they leave for the collector is mostly young: a tenth of its time. More room
    // would cost more than it saves, because to start a program the worker copies the tables of its memory.
    execArgv: ['--max-semi-space-size=32'],
    restoreMocks: true,
    unstubEnvs: true,
    // Programs that tests start are TypeScript, too: compiled once, and not once per run, whose TMPDIR is new.
    env: { NODE_COMPILE_CACHE: compileCache },
    // Most tests wait for processes: more workers than cores. Each loads most modules itself, so that with four or six the
    // two cores are busy longer than with three (126 s, 134 s and 138 s).
    maxWorkers: 3,
    // Cases that run at once wait for processes that end, not for the processor.
    maxConcurrency: 20,
    tags: testNeeds,
    reporters: ['default', './scripts/closing-reporter.ts'],
  },
});
